# SPDX-License-Identifier: Apache-2.0
"""BH-I1.memory. Reaching for memory and device registers that are somebody else's: every way in, every kind of owner."""

from tests.emulated.case import ALL, ARM, GIC2, GICV3, X86, Case, Sandbox, attacked
from tests.emulated.expect import Parked, Returned, Says

LOG_MAGIC = 0x474C4842  # BH_LOG_MAGIC


def reach(
    name: str,
    guards: str,
    command: str,
    place: str,
    access: str = "",
    platforms: tuple[str, ...] = ALL,
    quick: bool = False,
) -> Case:
    """One access that stage 2 must refuse, at the place where it was tried."""
    expected = Parked("attacker", "memory", access or command, place)
    return Case(name, guards, attacked(f"{command}={place}"), (expected,), platforms, quick=quick)


FOREIGN = "stage 2 maps nothing of another sandbox"
VICTIM, BEYOND = "{victim.ram:#x}", "{attacker.gpa_end:#x}"
ANY = " "  # the machine may call it a read or a write

WAYS_IN = (
    reach("read-foreign-ram", FOREIGN, "read", VICTIM, quick=True),
    reach("write-foreign-ram", FOREIGN, "write", VICTIM),
    reach("execute-foreign-ram", FOREIGN, "execute", VICTIM),
    reach("locked-foreign-ram", FOREIGN, "locked", VICTIM, ANY),
    reach("page-tables-in-foreign-ram", "a guest's table walks go through stage 2", "ptwalk", VICTIM, ANY),
    reach("straddle-end-of-ram", "an access that begins in own memory is refused for its other half", "straddle", BEYOND, "read"),
    reach("read-beyond-own-ram", "RAM ends where the table says", "read", BEYOND),
    reach("write-beyond-own-ram", "RAM ends where the table says", "write", BEYOND, quick=True),
)

MONITORS = "no sandbox maps frames of a monitor"
FRAMES = (
    reach("read-own-pool", MONITORS, "read", "{attacker.pool:#x}"),
    reach("read-own-monitor", MONITORS, "read", "{attacker.arena:#x}"),
    reach("write-own-monitor", MONITORS, "write", "{attacker.arena:#x}", quick=True),
    reach("execute-own-monitor", MONITORS, "execute", "{attacker.arena:#x}"),
    reach("write-foreign-monitor", MONITORS, "write", "{victim.arena:#x}"),
    reach("read-foreign-statistics", MONITORS, "read", "{victim.pool:#x}"),
    reach("write-kick-boxes", MONITORS, "write", "{shared:#x}"),
    # Everybody has RAM at the guest-physical addresses of the image, which lies at the start of RAM; after the kernel there, zeros.
    Case(
        "own-ram-where-the-image-lies",
        "guest-physical addresses are not host-physical ones",
        attacked("read={image:#x}"),
        (Returned("attacker", "read={image:#x}", 0),),
    ),
)

PERMISSIONS = "pages of the window have the permissions of the table"


def window(base: int, platforms: tuple[str, ...]) -> tuple[Case, ...]:
    """Own pages that allow less than everything."""
    return (
        reach("write-own-statistics", PERMISSIONS, "write", f"{base:#x}", platforms=platforms),
        reach("write-own-information", PERMISSIONS, "write", f"{base + 0x1000:#x}", platforms=platforms),
        reach("read-own-crash-record", PERMISSIONS, "read", f"{base + 0x2000:#x}", platforms=platforms),
        reach("execute-own-log", PERMISSIONS, "execute", f"{base + 0x4000:#x}", platforms=platforms),
        reach("read-ungranted-log", "only logs named in log-access are mapped", "read", f"{base + 0x10000:#x}", platforms=platforms),
        Case(
            "write-granted-log",
            "another sandbox's log is read only",
            (
                Sandbox("bystander", 0, "follow=victim follow=attacker", log_access=("attacker",)),
                Sandbox("attacker", 1, f"ticks=400 read={base + 0x10000:#x} write={base + 0x10000:#x}", log_access=("victim",)),
                Sandbox("victim", 2),
            ),
            (
                Returned("attacker", f"read={base + 0x10000:#x}", LOG_MAGIC),
                Parked("attacker", "memory", "write", f"{base + 0x10000:#x}"),
                Says("bystander", "bystander: follow victim: no such log was granted$"),
                Says("bystander", f"bystander: attacker: try write {base + 0x10000:#x}$"),
            ),
            platforms,
        ),
    )


def device(name: str, address: int, platforms: tuple[str, ...], command: str = "read", quick: bool = False) -> Case:
    return reach(name, "device registers are mapped only to their owner", command, f"{address:#x}", platforms=platforms, quick=quick)


DEVICES = (
    device("foreign-uart", 0x09000000, ARM, "write", quick=True),
    device("flash", 0x00000000, ARM),
    device("firmware-configuration", 0x09020000, ARM, "write"),  # fw_cfg has DMA
    device("virtio", 0x0A000000, ARM),
    device("pci-configuration", 0x3F000000, ARM),
    device("message-interrupts", 0x08020000, GIC2, "write"),  # GICv2m
    device("deactivation", 0x08011000, GIC2, "write"),  # GICC_DIR
    device("hypervisor-interface", 0x08030000, GIC2, "write"),  # GICH
    device("virtual-cpu-interface", 0x08040000, GIC2, "write"),  # GICV
    device("interrupt-translation", 0x08080000, (GICV3,), "write"),  # ITS
    device("behind-the-redistributors", 0x080A0000 + 4 * 0x20000, (GICV3,), "write", quick=True),
    device("local-apic", 0xFEE00000, X86, "write", quick=True),
    device("hpet", 0xFED00000, X86),
    device("pci-configuration", 0xB0000000, X86, "write"),
    device("firmware", 0xFFFC0000, X86),
)

CASES = (*WAYS_IN, *FRAMES, *window(0x0C000000, ARM), *window(0xFD000000, X86), *DEVICES)
