# SPDX-License-Identifier: Apache-2.0
"""BH-I1.register. Ports, registers, instructions and calls that a sandbox does not have; and exceptions without end."""

from bhtool import abi

from tests.emulated.case import A64, ALL, ARM, ARMV7, GICV2, SVM, VTX, X86, Case, Sandbox, attacked
from tests.emulated.expect import Off, Parked, Refused, Returned, Says

UNKNOWN = 2**64 - 1  # BH_E_UNKNOWN, PSCI NOT_SUPPORTED
ARGUMENT_BYTES = 180  # of struct bh_info.arguments, less the warm-up


def refused(name: str, guards: str, commands: str, by: str, platforms: tuple[str, ...], quick: bool = False) -> Case:
    """Every command raises the exception of a machine that lacks the feature; the sandbox lives on."""
    assert len(commands) < ARGUMENT_BYTES, f"{name}: {len(commands)} bytes of arguments"
    return Case(name, guards, attacked(commands), tuple(Refused("attacker", one, by) for one in commands.split()), platforms, quick=quick)


def returned(name: str, guards: str, commands: str, value: int | None, platforms: tuple[str, ...], quick: bool = False) -> Case:
    """Every command is answered and changes nothing."""
    assert len(commands) < ARGUMENT_BYTES, f"{name}: {len(commands)} bytes of arguments"
    return Case(
        name, guards, attacked(commands), tuple(Returned("attacker", one, value) for one in commands.split()), platforms, quick=quick
    )


# ---- I/O ports ------------------------------------------------------------------------------------------------------

PORT_MAP = "the I/O permission map grants ports by number"


def port(name: str, command: str, address: int, access: str, quick: bool = False) -> Case:
    expected = Parked("attacker", "port", access, f"{address:#x}")
    return Case(f"port-{name}", PORT_MAP, attacked(command), (expected,), X86, quick=quick)


PORTS = (
    port("foreign-uart", "in=0x3f8", 0x3F8, "read", quick=True),
    port("foreign-uart-write", "out=0x2f8,0x21", 0x2F8, "write"),
    port("string", "ins=0x3f8", 0x3F8, "read"),
    port("pci-configuration", "out32=0xcf8,0x80000000", 0xCF8, "write"),
    port("reset", "out=0xcf9,6", 0xCF9, "write"),
    port("keyboard-reset", "out=0x64,0xfe", 0x64, "write"),
    port("system-control", "out=0x92,1", 0x92, "write"),
    port("smi", "out=0xb2,0", 0xB2, "write"),
    port("emulator-exit", "out32=0xf4,0", 0xF4, "write", quick=True),
    port("power-management", "in32=0x608", 0x608, "read"),
    port("power-management-piix", "in32=0xb008", 0xB008, "read"),
    port("emulator-word", "out=0x8900,0x53", 0x8900, "write"),
    port("interrupt-controller", "out=0x21,0xff", 0x21, "write"),
    port("last", "in32=0xffff", 0xFFFF, "read"),
    port("straddling-the-end", "in32=0xfffe", 0xFFFE, "read"),
    Case(
        "port-straddling-a-grant",
        PORT_MAP,
        (Sandbox("bystander", 0), Sandbox("attacker", 1, "ticks=400 in32=0x2fd", uart="uart1", beats=False), Sandbox("victim", 2)),
        (Parked("attacker", "port", "read", "0x2fd"),),
        X86,
    ),
    Case("port-power-off", "power-off ends the sandbox, not the machine", attacked("out=0x604,0x34"), (Off("attacker"),), X86),
)

# ---- Model-specific registers ----------------------------------------------------------------------------------------

MSR_MAP = "the MSR permission map grants registers by number"
MSRS = (
    refused(
        "msr-svm",
        "SVM is hidden",
        "rdmsr=0xc0010114 rdmsr=0xc0010117 wrmsr=0xc0010117,0x1000 wrmsr=0xc0010114,0",
        "#GP",
        X86,
        quick=True,
    ),
    refused(
        "msr-vmx",
        "VT-x is hidden",
        "rdmsr=0x3a rdmsr=0x480 rdmsr=0x491 wrmsr=0x3a,5 wrmsr=0x480,0 wrmsr=0xd90,0",
        "#GP",
        X86,
        quick=True,
    ),
    refused("msr-efer-svme", "SVM is hidden", "wrmsr=0xc0000080,0x1d01", "#GP", X86),
    refused(
        "msr-apic-base",
        "the local APIC stays where it is, in x2APIC mode",
        "wrmsr=0x1b,0xfee00800 wrmsr=0x1b,0 wrmsr=0x1b,0xfeb00c00",
        "#GP",
        X86,
    ),
    refused("msr-time", "the time base is common", "wrmsr=0x10,0 wrmsr=0x3b,0x1000 wrmsr=0xc0000104,1", "#GP", X86),
    refused("msr-memory-types", MSR_MAP, "wrmsr=0x200,6 wrmsr=0x201,0x800 wrmsr=0x277,2 wrmsr=0xc0010016,0 wrmsr=0xc001001a,0", "#GP", X86),
    refused(
        "msr-system",
        MSR_MAP,
        "wrmsr=0xc0010010,0 wrmsr=0xc0010015,0 wrmsr=0xc0010111,0 wrmsr=0xc0010113,3 wrmsr=0x8b,1 wrmsr=0x79,0",
        "#GP",
        X86,
    ),
    refused(
        "msr-debug-and-counters",
        MSR_MAP,
        "wrmsr=0x1d9,1 wrmsr=0xc0010000,1 wrmsr=0xc0010200,1 rdmsr=0xc0010004 wrmsr=0x38f,1",
        "#GP",
        X86,
    ),
    refused(
        "msr-counters",
        MSR_MAP,
        "rdmsr=0xc1 rdmsr=0x186 rdmsr=0x309 rdmsr=0x345 rdmsr=0x38d rdmsr=0x390 wrmsr=0x3f1,1 rdmsr=0xc0000300 rdmsr=0xc0010201",
        "#GP",
        X86,
    ),
    returned("counters-not-shown", "what is refused is not shown", "counters-shown cpuid=0xa cpuid=0x80000022", 0, X86),
    refused(
        "msr-unknown",
        MSR_MAP,
        "rdmsr=0x12345678 wrmsr=0x4b564d00,1 rdmsr=0x40000000 rdmsr=0xc0020000 rdmsr=0x1fff rdmsr=0x2000",
        "#GP",
        X86,
    ),
    refused("msr-x2apic-reserved", MSR_MAP, "rdmsr=0x80e wrmsr=0x802,1 wrmsr=0x840,1 wrmsr=0x8ff,1", "#GP", X86),
)


NO_REGISTERS = "what CPUID hides has no registers"
HIDDEN = (
    refused(
        "msr-shadow-stacks", NO_REGISTERS, "rdmsr=0x6a0 wrmsr=0x6a0,1 rdmsr=0x6a2 wrmsr=0x6a2,1 wrmsr=0x6a4,0 wrmsr=0x6a7,0", "#GP", X86
    ),
    refused("msr-user-interrupts", NO_REGISTERS, "rdmsr=0x985 wrmsr=0x986,0 wrmsr=0x987,0 wrmsr=0x988,0 wrmsr=0x98a,1", "#GP", X86),
    refused("msr-flexible-returns", NO_REGISTERS, "rdmsr=0x1cc wrmsr=0x1cc,0 rdmsr=0x1d0 wrmsr=0x1d4,0", "#GP", X86),
    Case(
        "cr4-supervisor-keys",
        "what CPUID hides has no registers, though its bit of CR4 be set",
        attacked("cr4=0x1000000 rdmsr=0x6e1 wrmsr=0x6e1,4"),
        (Refused("attacker", "rdmsr=0x6e1", "#GP"), Refused("attacker", "wrmsr=0x6e1,4", "#GP")),
        X86,
    ),
    Case(
        "cr4-reserved",  # QEMU's processor lets it be set, and then enters no such guest
        "a bit of CR4 that the processor does not have harms nobody else",
        attacked("cr4=0x2000000 rdmsr=0x985"),
        (Parked("attacker", "error"),),
        (SVM,),
    ),
)

# ---- Instructions ----------------------------------------------------------------------------------------------------

NESTED = "SVM instructions are intercepted, whatever EFER.SVME says"
NESTED_VTX = "VT-x instructions exit, whatever CR4.VMXE says"
OWNED = "CR4.MCE and CR4.VMXE are the monitor's"
OSXSAVE = "cr4=0x40000"
INSTRUCTIONS = (
    refused("svm-instructions", NESTED, "vmrun vmload vmsave clgi stgi skinit invlpga", "#UD", X86, quick=True),
    refused("vmx-instructions", NESTED_VTX, "vmxon vmxoff vmclear vmptrld vmptrst vmlaunch vmresume", "#UD", X86, quick=True),
    refused("vmx-instructions-of-memory", NESTED_VTX, "vmread vmwrite invept invvpid vmfunc getsec", "#UD", X86),
    refused("cr4-vmxe", OWNED, "cr4=0x2000 cr4=0x2040", "#GP", (VTX,), quick=True),
    refused("cr4-mce", OWNED, "cr4=0x40", "#GP", (VTX,)),
    refused(
        "cr4-hidden",
        "what CPUID hides stays off in CR4",
        "cr4=0x1000 cr4=0x4000 cr4=0x80000 cr4=0x800000 cr4=0x1000000 cr4=0x2000000 cr4=0x100000000",
        "#GP",
        (VTX,),
    ),
    Case(
        "cr0-ne",
        "what VMX operation fixes, a guest does not see",
        attacked("cr0=0x20,0x20 cr0=0x20,0 cr0=0x10020,0x10000 cr0=0x20,0x20"),
        (
            Returned("attacker", "cr0=0x20,0x20", 0x20),
            Returned("attacker", "cr0=0x20,0", 0),
            Returned("attacker", "cr0=0x10020,0x10000", 0x10000),
        ),
        X86,
        quick=True,
    ),
    Case(
        "cr0-caches",
        "whether caches are on is a guest's to say, and its monitor's no more",
        attacked("cr0=0x60000000,0x40000000 cr0=0x60000020,0x60000020 cr0=0x60000000,0 cr0-read=0x60000020"),
        (
            Returned("attacker", "cr0=0x60000000,0x40000000", 0x40000000),
            Returned("attacker", "cr0=0x60000020,0x60000020", 0x60000020),
            Returned("attacker", "cr0=0x60000000,0", 0),
            Returned("attacker", "cr0-read=0x60000020", 0x20),
        ),
        X86,
    ),
    Case(
        "extended-state-enabled",
        "XSETBV is validated",
        attacked(f"{OSXSAVE} xsetbv=0 xsetbv=5 xsetbv=0x23 xsetbv=0x9 xsetbv=0x20003 xsetbv=3"),
        (
            Returned("attacker", OSXSAVE, 0),
            *(Refused("attacker", f"xsetbv={value}", "#GP") for value in ("0", "5", "0x23", "0x9", "0x20003")),
            Returned("attacker", "xsetbv=3", 0),
        ),
        X86,
    ),
    refused("waiting-instructions", "MONITOR and MWAIT are hidden", "monitor mwait", "#UD", X86),
    refused("counter-instruction", "RDPMC is intercepted", "rdpmc", "#(GP|UD)", X86),
    refused("extended-state", "XSETBV is validated", "xsetbv=0 xsetbv=0xffffffff", "#", X86),
    returned("long-instructions", "WBINVD and INVD are intercepted", "wbinvd invd", 0, X86),
)

# ---- System registers ------------------------------------------------------------------------------------------------

UNDEFINED = "(undefined instruction|trapped system register)"
HYPERVISOR = "registers of EL2 are out of reach at EL1"
NOT_OFFERED = "what is not offered is trapped and refused"
SYSTEM = (
    refused("mrs-hypervisor", HYPERVISOR, "mrs=sctlr_el2 mrs=hcr_el2 mrs=cnthctl_el2 msr-vbar_el2=0", UNDEFINED, A64, quick=True),
    refused("mrs-virtual-interrupts", HYPERVISOR, "mrs=ich_hcr", UNDEFINED, A64),
    refused("mrs-debug-rom", NOT_OFFERED, "mrs=mdrar", UNDEFINED, A64),
    refused("mrs-implementation", NOT_OFFERED, "mrs=actlr msr-actlr_el1=1 mrs=impdef mrs=cpuactlr mrs=l2ctlr", UNDEFINED, A64),
    refused("mrs-extensions", NOT_OFFERED, "mrs=spe mrs=sve", UNDEFINED, A64),
    refused(
        "system-register-sgi", "a GICv2 machine has no interrupt registers in the CPU", "sgi=0x5000004 sgi0=0x5000004", UNDEFINED, (GICV2,)
    ),
)

# A core is one sandbox's, and so are its counters.
OWN_COUNTERS = "counters count what their own core does above EL2"
COUNTERS = (
    returned("mrs-performance", OWN_COUNTERS, "mrs=pmu mrs=pmccntr msr-pmcr_el0=1", None, A64),
    returned("mrc-performance", OWN_COUNTERS, "mrc=pmcr mrc=pmccntr mcr-pmcr=1", None, (ARMV7,)),
    returned("counters-count", OWN_COUNTERS, "pmu-count=1000", 1000, ARM, quick=True),
    returned("counters-interrupt", "the line of the own counters is granted", "pmu-overflow=100", 100, ARM),
    returned("counters-without-the-monitor", "a monitor's work is not counted, whatever a guest asks for", "pmu-below=64", 0, A64),
    Case(
        "counters-of-another",
        OWN_COUNTERS,
        (Sandbox("bystander", 0), Sandbox("victim", 2, "pmu-leave"), Sandbox("attacker", 1, "ticks=400 pmu-left")),
        (Returned("attacker", "pmu-left", 0),),
        ARM,
    ),
)

# Breakpoints watch the sandbox's own core at EL1 and EL0 only, so they are its own.
OWN_DEBUG = returned("mrs-own-debug", "self-hosted debug ends where the sandbox ends", "mrs=debug mrs=dbgbcr0 mrs=oslsr", None, A64)

OSLSR_UNLOCKED = 8  # OSLM: the lock is there; OSLK clear
OS_LOCK = returned("os-lock", "the OS lock is the monitor's", "msr-oslar=1", OSLSR_UNLOCKED, A64)

# ---- Coprocessor registers, modes and states of ARMv7 --------------------------------------------------------------------

ACTLR_SMP = 0x40  # "the core takes part in coherency"
SUPERVISOR_MODE = 0x13
ARMV7_ONLY = (
    refused("mrc-hypervisor", HYPERVISOR, "mrc=hsctlr mrc=hcr mrc=hdcr mrc=hstr mrc=vtcr mrc=cnthctl", UNDEFINED, (ARMV7,), quick=True),
    refused("mcr-hypervisor", HYPERVISOR, "mcr-hcr=0 mcr-hvbar=0x40000000 mcr-hstr=0 mcr-cnthctl=0 mrrc=vttbr", UNDEFINED, (ARMV7,)),
    refused("mrc-secure", "registers of the secure world are out of reach", "mrc=scr mcr-scr=0 mcr-cntfrq=1", UNDEFINED, (ARMV7,)),
    refused("mrc-implementation", NOT_OFFERED, "mrc=l2ctlr mcr-l2ctlr=0 mrc=l2ectlr mrc=cbar", UNDEFINED, (ARMV7,)),
    refused(
        "mrc-debug",
        NOT_OFFERED,
        "mrc=dbgdscr mcr-dbgdscr=0x8000 mrc=dbgbcr0 mcr-dbgbcr0=1 mrc=dbgoslsr mcr-dbgoslar=1",
        UNDEFINED,
        (ARMV7,),
    ),
    refused("mrc-trace", NOT_OFFERED, "mrc=etmcr mcr-etmcr=0", UNDEFINED, (ARMV7,)),
    refused("jazelle", "Jazelle is hidden", "mrc=joscr mcr-joscr=2 mrc=jmcr mcr-jmcr=1 bxj", UNDEFINED, (ARMV7,), quick=True),
    refused("hypervisor-banked-register", HYPERVISOR, "elr-hyp", UNDEFINED, (ARMV7,)),
    returned("hypervisor-mode", "no way into Hyp mode but an exception", "cps-hyp", SUPERVISOR_MODE, (ARMV7,)),
    returned("mrc-auxiliary-control", "ACTLR is a constant", "mrc=actlr mcr-actlr=0", ACTLR_SMP, (ARMV7,)),
    returned(
        "trapped-loads",
        "a completed access goes where the guest wanted it",
        "mode-read=0x11 mode-read=0x12 mode-read=0x17 mode-read=0x1b mode-read=0x1f it-block",
        1,
        (ARMV7,),
    ),
    returned("mrc-no-debug", "no debug architecture is shown", "mrc=dbgdidr", 0, (ARMV7,)),
    returned("banked-registers", "an answer goes where it was asked from", "gicd-banked=8", 0, (ARMV7,)),
    returned("thumb-execution-environment", "ThumbEE ends where the sandbox ends", "mcr-teecr=0 mcr-teehbr=0", 0, (ARMV7,)),
)

# ---- Calls below -----------------------------------------------------------------------------------------------------

CALLS = "an unknown call changes nothing"
CPU_ON, CPU_ON_32, SYSTEM_OFF, SYSTEM_RESET = 0xC4000003, 0x84000003, 0x84000008, 0x84000009
FIRMWARE = (
    returned("hypercall-nonsense", CALLS, "hvc=0xc6000099 hvc=0xffffffffffffffff hvc=0x12345678", UNKNOWN, ARM, quick=True),
    returned("hypercall-nonsense", CALLS, "vmmcall=0xc6000099 vmmcall=0xffffffffffffffff vmmcall=0", UNKNOWN, X86),
    returned("firmware-nonsense", CALLS, "smc=0xc6000099 smc=0xdeadbeef smc=0x84000020 smc=0xc2000001", UNKNOWN, ARM),
    Case(
        "hypercall-from-user-mode",
        "only a kernel calls its monitor",
        attacked("user=hypercall"),
        tuple(
            Says("attacker", f"user hypercall {call:#x} ended by (undefined instruction|#UD)$")
            for call in (abi.lib.BH_CALL_VERSION, abi.lib.BH_CALL_PARK)
        ),
        quick=True,
    ),
    Case(
        "firmware-cpu-on",
        "a sandbox starts its own cores only",
        attacked(f"smc={CPU_ON:#x},3 hvc={CPU_ON:#x},2"),
        (Returned("attacker", f"smc={CPU_ON:#x},3"), Returned("attacker", f"hvc={CPU_ON:#x},2")),
        ARM,
    ),
    Case(
        "firmware-power-off",
        "power-off ends the sandbox, not the machine",
        attacked(f"smc={SYSTEM_OFF:#x}"),
        (Off("attacker"),),
        ARM,
        quick=True,
    ),
    returned("hypercall-of-64-bits", "a 32-bit sandbox makes 32-bit calls", "hvc=0xc6000000 smc=0xc4000003,2", UNKNOWN, (ARMV7,)),
    Case(
        "firmware-cpu-on-of-32-bits",
        "a sandbox starts its own cores only",
        attacked(f"smc={CPU_ON_32:#x},3 hvc={CPU_ON_32:#x},2"),
        (Returned("attacker", f"smc={CPU_ON_32:#x},3"), Returned("attacker", f"hvc={CPU_ON_32:#x},2")),
        (ARMV7,),
    ),
    *(
        Case(
            f"call-version{word}",
            "a call comes back after itself",
            attacked(f"hvc={call:#x}"),
            (Returned("attacker", f"hvc={call:#x}", abi.lib.BH_INFO_VERSION),),
            where,
        )
        for word, call, where in (("", 0xC6000000, A64), ("-32", 0x86000000, (ARMV7,)))
    ),
    returned(
        "call-registers", "a call changes the register of its answer alone", "hvc-registers=0xc6000000 hvc-registers=0xc60000ff", 0, A64
    ),
    returned(
        "call-registers-32",
        "a call changes the register of its answer alone",
        "hvc-registers=0x86000000 hvc-registers=0x860000ff",
        0,
        (ARMV7,),
    ),
    refused("hypercall-immediate", "calls have no immediate", "hvc-immediate", UNDEFINED, ARM),
    Case("firmware-reset", "reset ends the sandbox, not the machine", attacked(f"hvc={SYSTEM_RESET:#x}"), (Off("attacker"),), ARM),
    Case("park", "a sandbox can end itself", attacked("park"), (Off("attacker"),), ALL),
)

# ---- Exceptions without end, and accesses nothing describes --------------------------------------------------------------

ENDLESS = (
    Case("triple-fault", "shutdown is intercepted", attacked("triple"), (Parked("attacker", "reset"),), X86, quick=True),
    Case(
        "undescribed-access",
        "a trapped access without a syndrome parks",
        attacked("dczva=0x08000000"),
        (Parked("attacker", "memory"),),
        A64,
    ),
    *(
        Case(
            f"undescribed-{command}",
            "a trapped access without a syndrome parks",
            attacked(f"{command}=0x08000000"),
            (Parked("attacker", "memory"),),
            (ARMV7,),
        )
        for command in ("ldrd", "strd", "ldm", "post-indexed")
    ),
)

CASES = (*PORTS, *MSRS, *HIDDEN, *INSTRUCTIONS, *SYSTEM, *COUNTERS, OWN_DEBUG, OS_LOCK, *ARMV7_ONLY, *FIRMWARE, *ENDLESS)
