# SPDX-License-Identifier: Apache-2.0
"""PCs of 64 bits, with SVM or VT-x."""

from bhtool.families.family import (
    Campaign,
    Counting,
    Family,
    Frames,
    Images,
    Interrupts,
    Monitor,
    PoolFrames,
    Programs,
    Registers,
)

GENERAL = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16)))
IN_PACKET = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", *(f"r{n}" for n in range(8, 16)))


def is_call(before: bytes) -> bool:
    """APM vol. 3, CALL (Near): E8 with a displacement of 32 bits, FF /2 with register or memory operands of all lengths."""
    return before[-5] == 0xE8 or any(before[-n] == 0xFF and before[1 - n] >> 3 & 7 == 2 for n in range(2, 8))


X86_64 = Family(
    name="x86_64",
    title="x86-64",
    has_ports=True,
    interrupts=Interrupts(
        controller="apic",
        stretches=1,
        lines=range(24),  # pins of an IOAPIC
        has_vectors=True,
        private_line="the machine's: any core raises it by an x87 exception (FERR#)",
        sent_by_writes=True,
        greatest_core_id=0xFE,  # xAPIC ID
        start_by_ipi=True,
    ),
    monitor=Monitor(
        ram_unit=4 << 10,
        image_address=0x100000,
        copy_frames=4 + 1 + 2,
        backends={
            "svm": PoolFrames(sandbox=2 + 2, core=4),  # port map, MSR map; core, VMCB, states to begin in, host save area
            "vmx": PoolFrames(sandbox=2 + 1, core=4),  # the same with VMCS and VMXON region
        },
        table_spans=(1 << 48, 1 << 39, 1 << 30, 2 << 20),  # nested paging, four levels
        kicks_by_poison=False,
        reads_guests=True,
        exits_to_sleep=False,
        exits_to_identify=True,
    ),
    programs=Programs(
        elf_machine=62,  # EM_X86_64
        link_offset=0x200000,  # after entry area and legacy memory
        stack_offset=None,
        entered_wide=True,
        takes_flat=False,
        sdk="--target=x86_64-unknown-linux-gnu -mgeneral-regs-only -mno-red-zone -no-pie -Qunused-arguments",
        sdk_address=0x200000,
        linux="zero-page",
        linux_kernel="bzImage",
        linux_packed=False,
        linux_flavour="amd64",
        linux_size=(0x260, "<I"),  # config/linux_x86.py
        linux_console_is_pci=True,
        address_end=1 << 64,
        zephyr_unfit="its QEMU boards for PCs are entered in 32-bit mode, a sandbox in 64-bit mode",
    ),
    registers=Registers(
        names=(*GENERAL, "rflags", "cr0", "cr3", "cr4", "efer"),
        recorded=(*GENERAL, "eflags"),
        controls={"cr0": 17, "cr3": 18, "cr4": 19, "efer": 20},
        stack_of_user=None,
        packet=(*((name, 8) for name in IN_PACKET), ("rip", 8), ("eflags", 4)),
        pc="rip",
        sp="rsp",
        gdb="i386:x86-64",
        call_span=15,
        instruction_step=1,
        breakpoint_bytes=1,
        in_guest=None,
        frames=Frames(word=8, pointer=lambda _: 5, link=None, is_call=is_call),  # System V ABI AMD64 3.2.2 "The Stack Frame"
    ),
    images=Images(form="iso"),
    campaign=Campaign(address_bits=36, reported=1 << 48, ram_mib=4, queue_offset=3 << 20, graft=511 << 30),
    counting=Counting(sleeps_at_start=True),  # the TSC counts nanoseconds as it is
)
