# SPDX-License-Identifier: Apache-2.0
"""SMMUv3: a table of streams in memory. Arm IHI 0070, 5.2 "Stream Table Entry", 6.3 "Register formats"."""

from __future__ import annotations

from collections.abc import Iterator

from bhtool.config.span import Span
from bhtool.oracle.iommu import STREAMS, IommuLook, Opened, Registers, Told
from bhtool.oracle.snapshot import FRAME, Snapshot
from bhtool.oracle.stage2 import VMSA
from bhtool.oracle.walk import Root, bits

IDR0, CR0, CR0ACK, GBPA, STRTAB_BASE, STRTAB_BASE_CFG, CMDQ_BASE = 0x00, 0x20, 0x24, 0x44, 0x80, 0x88, 0x90
HAS_ATS = bits(10)  # of IDR0
SMMUEN, ATSCHK, GBPA_ABORT = bits(0), bits(4), bits(20)
LINEAR, TWO_LEVELS = 0, 1
ENTRY, DESCRIPTOR, COMMAND = 64, 8, 16  # bytes
TABLE, QUEUE = bits(51, 6), bits(51, 5)

VALID, CONFIG_SHIFT, CONFIG = bits(0), 1, 7
ABORT, BYPASS, STAGE_2 = 0b000, 0b100, 0b110
EATS_SHIFT, EATS = 28, 3  # of word 1: 0, requests that say they are translated abort
S2TTB = bits(51, 4)  # of word 3
# Of word 2.
VMID = bits(15, 0)
T0SZ_SHIFT, T0SZ, SL0_SHIFT, SL0, TG_SHIFT, TG = 32, 0x3F, 38, 3, 46, 3
AA64 = bits(51)
REFUSED = {52: "tables of the other byte order (S2ENDI)", 53: "no access flags (S2AFFD)", 57: "stalls (S2S)"}


def read_smmu(snapshot: Snapshot, registers: Registers) -> Told:
    told = Told()
    if not registers[CR0] & SMMUEN or not registers[CR0ACK] & SMMUEN:
        if not registers[GBPA] & GBPA_ABORT:
            told.wrong.append((None, "it is off, and lets everything pass (GBPA.ABORT)"))
        return told
    if registers[IDR0] & HAS_ATS and not registers[CR0] & ATSCHK:
        told.wrong.append((None, "requests that say they are translated pass (CR0.ATSCHK)"))
    for stream, at in _entries(snapshot, registers, told):
        _read_entry(snapshot, told, stream, [snapshot.word(at + 8 * n) for n in range(ENTRY // 8)])
    queue = registers[CMDQ_BASE]
    told.tables.append(("queue of commands", Span(queue & QUEUE, COMMAND << (queue & 0x1F))))
    told.shown = [span for _, span in told.tables]
    return told


def _entries(snapshot: Snapshot, registers: Registers, told: Told) -> Iterator[tuple[int, int]]:
    """(stream, where its entry lies); of streams without one the SMMU aborts everything (3.3.2)."""
    base, config = registers[STRTAB_BASE] & TABLE, registers[STRTAB_BASE_CFG]
    count, form, split = 1 << min(config & 0x3F, 16), config >> 16 & 3, config >> 6 & 0x1F
    if form == LINEAR:
        yield from _stretch(snapshot, told, "table of streams", base & -(count * ENTRY), 0, count)
    elif form == TWO_LEVELS:
        firsts = Span(base & -max((count >> split) * DESCRIPTOR, ENTRY), (count >> split) * DESCRIPTOR)
        told.tables.append(("first table of streams", firsts))
        if not snapshot.holds(firsts.start, firsts.size):
            told.wrong.append((None, f"its table of streams {firsts} is not in RAM"))
            return
        for n in range(count >> split):
            word = snapshot.word(firsts.start + n * DESCRIPTOR)
            if word & 0x1F:  # Span: 2^(n-1) entries
                first = n << split
                yield from _stretch(snapshot, told, "table of streams", word & TABLE, first, 1 << (word & 0x1F) - 1)
    else:
        told.wrong.append((None, f"its table of streams has form {form}, which there is not"))


def _stretch(snapshot: Snapshot, told: Told, name: str, start: int, first: int, count: int) -> Iterator[tuple[int, int]]:
    span = Span(start, min(count, STREAMS) * ENTRY)
    told.tables.append((name, span))
    if not snapshot.holds(span.start, span.size):
        told.wrong.append((None, f"its {name} {span} is not in RAM"))
        return
    yield from ((first + n, start + n * ENTRY) for n in range(span.size // ENTRY))


def _read_entry(snapshot: Snapshot, told: Told, stream: int, words: list[int]) -> None:
    config = words[0] >> CONFIG_SHIFT & CONFIG
    if not words[0] & VALID or config == ABORT:
        return
    if config != STAGE_2:
        if config != BYPASS:
            told.wrong.append((stream, f"its entry has Config {config:#05b}: a stage 1 that nobody uses"))
        told.streams[stream] = Opened(None)
        return
    second = words[2]
    if not second & AA64 or second >> TG_SHIFT & TG:
        told.wrong.append((stream, "its tables are not AArch64's of 4 KiB (S2AA64, S2TG)"))
    told.wrong += [(stream, f"its entry has {what}") for bit, what in REFUSED.items() if second >> bit & 1]
    if words[1] >> EATS_SHIFT & EATS:
        told.wrong.append((stream, "its entry lets it bring addresses of its own (EATS)"))
    size, levels = 64 - (second >> T0SZ_SHIFT & T0SZ), 2 + (second >> SL0_SHIFT & SL0)
    root = Root(VMSA, words[3] & S2TTB & -FRAME, levels, 1 << max(0, size - 12 - 9 * (levels - 1)))
    told.streams[stream] = Opened(root, tag=second & VMID)


SMMU = IommuLook(read_smmu, ((IDR0, 4), (CR0, 4), (CR0ACK, 4), (GBPA, 4), (STRTAB_BASE, 8), (STRTAB_BASE_CFG, 4), (CMDQ_BASE, 8)))
