# SPDX-License-Identifier: Apache-2.0
"""Model-specific registers a sandbox may touch without an exit, by the oracle's own reading of the manuals (BH-I1.register).

A register may stand here if it belongs to one core, cannot send an interrupt to another, cannot change what arrives, and cannot
change a clock, a memory type of others, or how the monitor itself is entered. APM: vol. 2; SDM: vol. 4, chapter 2.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    first: int
    last: int
    access: str  # of "rw"
    why: str


RULES = (
    Rule(0x010, 0x010, "r", "TSC: the common time base; reading it is harmless. APM 13.2.4"),
    Rule(0x174, 0x176, "rw", "SYSENTER_CS, _ESP, _EIP: how user code enters this guest's kernel. APM 6.1.2"),
    Rule(0x800, 0x83F, "r", "x2APIC: the state of this core's own interrupt controller. APM 16.11.1"),
    Rule(0x808, 0x808, "w", "TPR: holds back this core's own interrupts. APM 16.6.4"),
    Rule(0x80B, 0x80B, "w", "EOI: ends this core's own interrupt. APM 16.4.7"),
    Rule(0x80F, 0x80F, "w", "SVR: switches this core's own controller off and on; NMIs arrive all the same. APM 16.4.8"),
    Rule(0x828, 0x828, "w", "ESR: clears this core's own error bits. APM 16.4.6"),
    Rule(0x838, 0x838, "w", "timer initial count: this core's own timer; its vector is in the LVT, which exits. APM 16.4.1"),
    Rule(0x83E, 0x83E, "w", "timer divide configuration. APM 16.4.1"),
    Rule(0x83F, 0x83F, "w", "SELF IPI: a fixed interrupt to this core. APM 16.14"),
    Rule(0xC0000081, 0xC0000084, "rw", "STAR, LSTAR, CSTAR, SFMASK: how user code enters this guest's kernel. APM 6.1.1"),
    Rule(0xC0000100, 0xC0000103, "rw", "FS, GS and kernel GS bases, TSC_AUX: addresses and a number of this core's own. APM 4.5.3"),
)


def allowed(access: str) -> set[int]:
    """All that may be read ("r") or written ("w")."""
    return {number for rule in RULES if access in rule.access for number in range(rule.first, rule.last + 1)}


# What protections other than "msr" keep closed: the command register, and the local vector table.
KEPT_CLOSED = {"ipi": {0x830}, "irq": {0x82F, *range(0x832, 0x838)}}


def unjudged(exempt: frozenset[str]) -> set[int]:
    """Registers that may be open or closed where these protections are switched off."""
    return {number for protection in exempt for number in KEPT_CLOSED.get(protection, ())}
