# SPDX-License-Identifier: Apache-2.0
"""RISC-V with 64 bits and the hypervisor extension: so far its monitor says that it cannot start."""

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

# the unprivileged specification, 25 "RISC-V Assembly Programmer's Handbook"
RA, FP = 1, 8
GENERAL = tuple(f"x{n}" for n in range(32))
CALL, CALL_INDIRECT, LINK = 0x6F, 0x67, 1 << 7


def is_call(before: bytes) -> bool:
    """JAL and JALR that leave their return address in x1: 2.5 "Control Transfer Instructions"."""
    word = int.from_bytes(before[-4:], "little")
    return word & 0xFFF in (CALL | LINK, CALL_INDIRECT | LINK)


RISCV64 = Family(
    name="riscv64",
    title="RISC-V",
    has_ports=False,
    interrupts=Interrupts(
        controller="other",
        stretches=1,
        lines=range(1, 1024),  # of a PLIC
        has_vectors=False,
        private_line="nobody's",
        sent_by_writes=False,
        greatest_core_id=0xFF,
        start_by_ipi=False,
    ),
    monitor=Monitor(
        ram_unit=2 << 20,
        image_address=0x80200000,
        copy_frames=3 + 1 + 1,
        backends={"none": PoolFrames(sandbox=0, core=1)},
        table_spans=(1 << 39, 1 << 30, 2 << 20),  # Sv39
        kicks_by_poison=False,
        reads_guests=False,
        exits_to_sleep=False,
        exits_to_identify=False,
    ),
    programs=Programs(
        elf_machine=243,  # EM_RISCV
        link_offset=0x80000,
        stack_offset=0x80000,
        entered_wide=False,
        takes_flat=True,
        sdk="--target=riscv64-none-elf",
        sdk_address=0x80080000,
        linux="none",
        linux_kernel="none",
        linux_packed=False,
        linux_size=None,
        linux_console_is_pci=False,
        address_end=1 << 64,
        sandbox_kernel=False,
        zephyr_unfit="none was tried in a sandbox",
    ),
    registers=Registers(
        names=(*GENERAL, "sstatus"),
        recorded=GENERAL,
        controls={},
        stack_of_user=None,
        packet=(*((name, 8) for name in GENERAL), ("pc", 8)),
        pc="pc",
        sp="x2",
        gdb="riscv:rv64",
        call_span=4,
        instruction_step=2,
        breakpoint_bytes=4,
        in_guest=None,
        frames=Frames(word=8, pointer=lambda _: FP, link=RA, is_call=is_call),
    ),
    images=Images(form="fit", uboot="riscv", uboot_end=0xFFFFFFFFFFFFFFFF),
    campaign=Campaign(address_bits=36, reported=1 << 48, ram_mib=2, queue_offset=1 << 20, graft=511 << 30),
    counting=Counting(),
)
