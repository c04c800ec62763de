# SPDX-License-Identifier: Apache-2.0
"""AArch64 with EL2 and ARMv7 with Hyp mode: two families that have their interrupt controllers in common."""

from dataclasses import replace

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

# bits of CPSR and PSTATE: DDI 0487, C5.2.19 SPSR_EL2 (M[3:0]); DDI 0406C, B1.3.1 "ARM processor modes"
EL_SHIFT, EL2, MODE, HYP = 2, 2, 0x1F, 0x1A
CPSR, THUMB = 15, 1 << 5  # its number in ARMv7's record, and a bit of it

GIC = Interrupts(
    controller="gic",
    stretches=2,
    lines=range(32, 1020),  # SPIs
    has_vectors=False,
    private_line="a core's own",
    sent_by_writes=False,
    greatest_core_id=0xFFFFFF,  # MPIDR affinity in one cell
    start_by_ipi=False,
)
POOL = PoolFrames(sandbox=0, core=1)  # with its monitor's stack
COUNTING = Counting(options=("-global", "arm-cpu.cntfrq=1000000000"))


def is_call_aarch64(before: bytes) -> bool:
    """DDI 0487, C6.2 BL, BLR."""
    word = int.from_bytes(before[-4:], "little")
    return word >> 26 == 0x25 or word & 0xFFFFFC1F == 0xD63F0000


def is_call_armv7(before: bytes) -> bool:
    """DDI 0406C, A8.8.25 BL and BLX (immediate), A8.8.26 BLX (register); ARM and Thumb instructions alike."""
    word = int.from_bytes(before[-4:], "little")
    first, second = word & 0xFFFF, word >> 16
    is_arm = word >> 24 & 0xF == 0xB or word & 0x0FFFFFF0 == 0x012FFF30 or word >> 25 == 0x7D
    return is_arm or (first >> 11 == 0x1E and second & 0xC000 == 0xC000) or second & 0xFF87 == 0x4780


AARCH64 = Family(
    name="aarch64",
    title="AArch64",
    has_ports=False,
    interrupts=GIC,
    monitor=Monitor(
        ram_unit=2 << 20,
        image_address=0x40010000,
        copy_frames=3 + 1 + 1,
        backends={"stage2-gicv3": POOL, "stage2-gicv2": POOL},
        table_spans=(1 << 39, 1 << 30, 2 << 20),  # VMSAv8-64 stage 2 from level 1
        kicks_by_poison=True,
        reads_guests=False,
        exits_to_sleep=True,
        exits_to_identify=False,
    ),
    programs=Programs(
        elf_machine=183,  # EM_AARCH64
        link_offset=0x80000,  # what lies below is the initial stack
        stack_offset=0x80000,
        entered_wide=False,
        takes_flat=True,
        sdk="--target=aarch64-none-elf -mcpu=cortex-a53 -mgeneral-regs-only -mstrict-align",
        sdk_address=0x40080000,
        linux="tree",
        linux_kernel="Image",
        linux_packed=True,
        linux_flavour="arm64",
        linux_size=(16, "<Q"),  # config/arm_boot.py
        linux_console_is_pci=False,
        address_end=1 << 64,
        freertos_port="ARM_AARCH64, compiled with -DGUEST (EL1)",
    ),
    registers=Registers(
        names=(*(f"x{n}" for n in range(31)), "sp_el1", "spsr", "sp_el0", "elr_el1", "esr_el1"),
        recorded=(*(f"x{n}" for n in range(31)), "sp", "cpsr"),
        controls={},
        stack_of_user=33,
        packet=(*((f"x{n}", 8) for n in range(31)), ("sp", 8), ("pc", 8), ("cpsr", 4)),
        pc="pc",
        sp="sp",
        gdb="aarch64",
        call_span=4,
        instruction_step=2,
        breakpoint_bytes=4,
        in_guest=lambda status: status >> EL_SHIFT & 3 != EL2,
        frames=Frames(word=8, pointer=lambda _: 29, link=30, is_call=is_call_aarch64),  # AAPCS64 6.4.6 "The Frame Pointer"
    ),
    images=Images(form="fit", uboot="arm64", uboot_end=0xFFFFFFFFFFFFFFFF),
    campaign=Campaign(address_bits=36, reported=1 << 48, ram_mib=2, queue_offset=5 << 18, graft=511 << 30),
    counting=replace(COUNTING, has_peers=True, bao_boot=955_000),
)

ARMV7 = Family(
    name="armv7",
    title="ARMv7",
    has_ports=False,
    interrupts=GIC,
    monitor=replace(
        AARCH64.monitor,
        copy_frames=3 + 1 + 1,
        backends={"stage2-armv7": POOL},
        table_spans=(4 << 30, 1 << 30, 2 << 20),  # VMSAv7 LPAE stage 2 of 32 bits, from level 1
    ),
    programs=replace(
        AARCH64.programs,
        elf_machine=40,  # EM_ARM
        sdk="--target=armv7a-none-linux-gnueabi -mcpu=cortex-a15 -mfloat-abi=soft -mno-unaligned-access",
        linux_kernel="zImage",
        linux_packed=False,
        linux_flavour="armmp",
        linux_size=None,
        address_end=1 << 32,
        zephyr_unfit="its QEMU board for ARMv7-A, qemu_cortex_a7, is not one that was tried in a sandbox",
        freertos_port="ARM_CA9",
    ),
    registers=Registers(
        names=(*(f"r{n}" for n in range(13)), "sp", "lr", "cpsr", "dfsr", "dfar", "ifsr", "ifar"),
        recorded=(*(f"r{n}" for n in range(13)), "sp", "lr", "cpsr"),
        controls={},
        stack_of_user=None,
        packet=(*((f"r{n}", 4) for n in range(13)), ("sp", 4), ("lr", 4), ("pc", 4), ("cpsr", 4)),
        pc="pc",
        sp="sp",
        gdb="armv7",
        call_span=4,
        instruction_step=2,
        breakpoint_bytes=4,
        in_guest=lambda status: status & MODE != HYP,
        frames=Frames(  # AAPCS32 6.2.1.4 "The Frame Pointer"
            word=4, pointer=lambda registers: 7 if registers[CPSR] & THUMB else 11, link=14, is_call=is_call_armv7
        ),
    ),
    images=Images(form="fit", uboot="arm", uboot_end=0xFFFFFFFF),
    campaign=Campaign(address_bits=40, reported=1 << 32, ram_mib=2, queue_offset=5 << 18, graft=3 << 30),
    counting=replace(COUNTING, cost_share=1.5),
)
