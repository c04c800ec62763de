# SPDX-License-Identifier: Apache-2.0
"""Worst-case delays of a channel as "Predictable Communication and Migration in the Quest-V Separation Kernel" prints them, section III, in its letters.

They are worst cases only where both VCPUs are the highest of their cores: docs/channel-bounds.md has a schedule that takes longer. Shown as *paper*; what
holds is in channel_bounds.py.

    C, T   budget and period of a VCPU, of the sender (s) and of the receiver (r)
    N, M   bytes of the request and of the reply; B: of a slot, the most that one message has
    δ      what a byte costs an end; K: what the receiver takes to serve a request
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

Time = Fraction | int


@dataclass(frozen=True)
class PaperEnd:
    budget: int  # C
    period: int  # T
    per_byte: Time  # δ

    @property
    def gap(self) -> int:
        """T - C."""
        return self.period - self.budget

    def spread(self, work: Time) -> Time:
        """⌊work / C⌋ T + work mod C: how long it takes to do so much once a budget begins."""
        return floor(work / Fraction(self.budget)) * self.period + work % self.budget


def send_time(sender: PaperEnd, size: int) -> Time:
    """S(N)."""
    return sender.spread(size * sender.per_byte)


def serve_time(receiver: PaperEnd, request: int, reply: int, service: Time) -> Time:
    """Equation (1): R(N, M)."""
    return receiver.spread((request + reply) * receiver.per_byte + service)


def round_trip(sender: PaperEnd, receiver: PaperEnd, request: int, reply: int, service: Time = 0) -> Time:
    """Equation (2): Δ(N, M), where N and M fit a slot."""
    there = send_time(sender, request) + sender.gap
    served = serve_time(receiver, request, reply, service) + receiver.gap
    return there + served + send_time(sender, reply) + sender.gap


def many_round_trips(sender: PaperEnd, receiver: PaperEnd, request: int, reply: int, slot: int, service: Time = 0) -> Time:
    """Equation (3): Δ'(N, M) for N > B, M <= N. Raises ValueError for what the paper leaves out."""
    if not request > slot or reply > request:
        raise ValueError(f"equation (3) is for N > B and M <= N, not for N = {request}, M = {reply}, B = {slot}")
    return ceil(Fraction(request, slot)) * round_trip(sender, receiver, slot, min(reply, slot), service)


def one_way(sender: PaperEnd, receiver: PaperEnd, size: int, slot: int, service: Time = 0) -> Time:
    """Equation (4): Δ' of N bytes in one direction. What is less than a slot is a slot."""
    there = send_time(sender, slot) + sender.gap
    return ceil(Fraction(size, slot)) * (there + serve_time(receiver, slot, 0, service) + receiver.gap)
