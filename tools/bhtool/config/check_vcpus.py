# SPDX-License-Identifier: Apache-2.0
"""Rules on VCPUs: what each has to say, what they may name, and that a core can give all of its VCPUs what they are promised."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bhtool.config.domains import Domains, Sandbox
from bhtool.config.doorbells import rings_of
from bhtool.config.rule import Finding
from bhtool.config.schedulability import Miss, asked_text, misses_of
from bhtool.config.vcpus import (
    BUDGET,
    CORE,
    FEW_SWITCHES,
    FIRST_CORE_PROGRAMS,
    MAIN_PROGRAM,
    OF_IO,
    OF_MAIN,
    OWN_KERNEL,
    PERIOD,
    PROGRAM,
    PROGRAMS,
    RATE,
    SCHEDULER,
    SERVES,
    SHARE,
    Vcpu,
    is_main,
    is_own_kernel,
    is_provided_kernel,
    period_of,
)
from bhtool.text import did_you_mean

MOST_VCPUS = 16  # of a sandbox: its information page has room for them beside what it owns
WHOLE = 100  # percent
NS_PER_US = 1000


def _each(domains: Domains) -> Iterator[tuple[Sandbox, Vcpu]]:
    for sandbox in domains.sandboxes:
        for vcpu in sandbox.vcpus:
            yield sandbox, vcpu


def _quoted(names: list[str]) -> str:
    return " and ".join(f"`{one}`" for one in names)


def not_yet(domains: Domains) -> Iterator[Finding]:
    """What the sandbox kernel cannot do so far: kernel/core/vcpus.c says the same of a table that asks for it."""
    for sandbox, vcpu in _each(domains):
        if sandbox.is_linux:
            continue
        if vcpu.is_io and sandbox.is_edf:
            yield Finding(
                vcpu.location, f"an I/O VCPU (child `{vcpu.name}`) where VCPUs go by deadline: it is not known what they could be promised"
            )
            continue
        served = [one for one in sandbox.devices if one.node in vcpu.served_nodes]  # of what it does not have, serves_its_own speaks
        if vcpu.is_io and served and not any(one.is_uart for one in served):
            yield Finding(vcpu.where(SERVES), f"an I/O VCPU for anything but a UART (child `{vcpu.name}`)")
        if vcpu.is_io and any(core.node in vcpu.core_nodes for core in sandbox.cores[1:]):
            text = f"an I/O VCPU on another core than the sandbox's first, which is interrupted (child `{vcpu.name}`)"
            yield Finding(vcpu.where(CORE), text)


def is_one_kind(domains: Domains) -> Iterator[Finding]:
    for _, vcpu in _each(domains):
        main, io = ([name for name in names if vcpu.has(name)] for names in (OF_MAIN, OF_IO))
        if main and io:
            text = f"`{vcpu.name}` has {_quoted(main)} of a Main VCPU and {_quoted(io)} of an I/O VCPU"
            yield Finding(vcpu.where(io[0]), text)
            continue
        needed = (SERVES, SHARE) if io else (BUDGET, PERIOD)
        if missing := [name for name in needed if not vcpu.has(name)]:
            yield Finding(vcpu.location, f"`{vcpu.name}`, {'an I/O' if io else 'a Main'} VCPU, lacks {_quoted(missing)}")


def of_native(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if not sandbox.is_linux:
            continue
        if SCHEDULER in sandbox.node.properties:
            yield Finding(sandbox.where(SCHEDULER), f"`{sandbox.name}` runs Linux, and has `{SCHEDULER}`")
        for vcpu in sandbox.vcpus:
            yield Finding(vcpu.location, f"`{sandbox.name}` runs Linux, and has a VCPU `{vcpu.name}`")


def has_a_period(domains: Domains) -> Iterator[Finding]:
    for _, vcpu in _each(domains):
        if vcpu.has(PERIOD) and vcpu.period_us == 0:
            yield Finding(vcpu.where(PERIOD), f"the period of `{vcpu.name}` is 0")


def budget_in_period(domains: Domains) -> Iterator[Finding]:
    switch_ns = domains.machine.costs.switch
    for _, vcpu in _each(domains):
        if not is_main(vcpu):
            continue
        if vcpu.budget_us == 0:
            yield Finding(vcpu.where(BUDGET), f"the budget of `{vcpu.name}` is 0")
        elif vcpu.budget_us * NS_PER_US < switch_ns:
            text = f"`{vcpu.name}` has a budget of {vcpu.budget_us:,} us, and a switch takes {switch_ns / NS_PER_US:g} us on this platform"
            yield Finding(vcpu.where(BUDGET), text)
        elif 0 < vcpu.period_us < vcpu.budget_us:
            yield Finding(vcpu.where(BUDGET), f"`{vcpu.name}` has a budget of {vcpu.budget_us:,} us in a period of {vcpu.period_us:,} us")


def not_too_many(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        for vcpu in sandbox.vcpus[MOST_VCPUS : MOST_VCPUS + 1]:
            yield Finding(vcpu.location, f"`{sandbox.name}` has {len(sandbox.vcpus)} VCPUs, it can have {MOST_VCPUS}")


def serves_its_own(domains: Domains) -> Iterator[Finding]:
    for sandbox, vcpu in _each(domains):
        for node in vcpu.served_nodes:
            device = next((one for one in sandbox.devices if one.node is node), None)
            if device is None:
                yield Finding(vcpu.where(SERVES), f"`{vcpu.name}` serves {node.label}, which `{sandbox.name}` does not have")
            elif not device.wires and not device.function:  # a function may interrupt by messages
                yield Finding(vcpu.where(SERVES), f"`{vcpu.name}` serves {device.name}, which interrupts nobody")


def share_in_range(domains: Domains) -> Iterator[Finding]:
    costs = domains.machine.costs
    for sandbox, vcpu in _each(domains):
        budget_ns = vcpu.share_ns(period_of(vcpu, sandbox.vcpus))
        if vcpu.has(SHARE) and not 1 <= vcpu.percent <= WHOLE:
            yield Finding(vcpu.where(SHARE), f"`{vcpu.name}` may take {vcpu.percent:,} percent of its core")
        elif vcpu.is_io and 0 < budget_ns < costs.switch:
            text = (
                f"`{vcpu.name}` may take {budget_ns:,} ns of each of its periods, and a switch takes {costs.switch:,} ns on this platform"
            )
            yield Finding(vcpu.where(SHARE), text)
        if vcpu.has(RATE) and vcpu.rate_hz == 0:
            yield Finding(vcpu.where(RATE), f"the device of `{vcpu.name}` may interrupt 0 times in a second")
        elif vcpu.rate_hz > costs.most_rate_hz:
            most = f"{costs.most_rate_hz:,} take all of a core on this platform"
            text = f"the device of `{vcpu.name}` may interrupt {vcpu.rate_hz:,} times in a second, and {most}"
            yield Finding(vcpu.where(RATE), text)


def named_once(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        named: dict[str, Vcpu] = {}
        served: dict[str, Vcpu] = {}
        for vcpu in sandbox.vcpus:
            if vcpu.name == MAIN_PROGRAM:
                yield Finding(vcpu.location, f"a VCPU of `{sandbox.name}` is called `{MAIN_PROGRAM}`, as the kernel's own is")
            if vcpu.name in named:
                yield Finding(vcpu.location, f"a second VCPU is called `{vcpu.name}` (first: {named[vcpu.name].location})")
            named.setdefault(vcpu.name, vcpu)
            for label in dict.fromkeys(node.label for node in vcpu.served_nodes):
                if label in served:
                    yield Finding(vcpu.where(SERVES), f"`{vcpu.name}` serves {label}, as `{served[label].name}` does already")
                served.setdefault(label, vcpu)


def runs_on_its_own(domains: Domains) -> Iterator[Finding]:
    for sandbox, vcpu in _each(domains):
        for node in vcpu.core_nodes:
            core = domains.machine.core_at(node)
            if core not in sandbox.cores:
                yield Finding(vcpu.where(CORE), f"`{vcpu.name}` runs on {node.label}, which is no core of `{sandbox.name}`")


def fit_their_core(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        for miss in misses_of(sandbox, domains.machine.costs, rings_of(domains, sandbox)):
            asked = f"on core {miss.load.core} of `{sandbox.name}` VCPUs ask for {asked_text(miss.load)}"
            bound = "" if sandbox.is_edf else f", and {miss.load.allowed:.1%} always fit"
            where = miss.vcpu.where(SHARE if miss.vcpu.is_io else BUDGET)
            yield Finding(where, f"{asked}{bound}; {miss.says}; {_what_would_fit(miss)}")


def _what_would_fit(miss: Miss) -> str:
    """Each change by itself is enough, or else all together."""
    vcpu, line = miss.vcpu, miss.line
    if miss.is_undecided and not (miss.fit or miss.rate_hz or miss.percent):
        return "periods that are multiples of each other, or closer to each other, are found out sooner"
    share = f"{miss.fit}%" if vcpu.is_io else f"{miss.fit:,} us"
    fits = [f"{share} at most for `{vcpu.name}`"] if miss.fit else []
    if line and miss.rate_hz:
        fits.append(f"a `{RATE}` of {miss.rate_hz:,} at most for `{line.name}`")
    smaller = "" if miss.fit else f"no smaller {'share' if vcpu.is_io else 'budget'} of `{vcpu.name}` alone would help"
    slower = f"no lower `{RATE}` of `{line.name}` alone would help" if line and not miss.rate_hz else ""
    if miss.percent:
        fits = [f"{miss.percent}% of each budget and share of the file at most"]
    all_fit = f"all would fit with {', or with '.join(fits)}" if fits else ""
    return "; ".join(one for one in (all_fit, smaller, slower) if one)


def switched_to_for_long(domains: Domains) -> Iterator[Finding]:
    """What is less than a switch is refused: budget_in_period, share_in_range."""
    switch_ns = domains.machine.costs.switch
    for sandbox, vcpu in _each(domains):
        period_us = period_of(vcpu, sandbox.vcpus)
        budget_ns = vcpu.budget_ns(period_us)
        if switch_ns <= budget_ns < FEW_SWITCHES * switch_ns:
            switch = f"a switch to it is counted as {switch_ns / NS_PER_US:g} us besides, {switch_ns / budget_ns:.1%} of that"
            text = f"`{vcpu.name}` may run {budget_ns / NS_PER_US:g} us of each {period_us:,} us, and {switch}"
            yield Finding(vcpu.where(SHARE if vcpu.is_io else BUDGET), text)


def _each_of_own_kernel(domains: Domains) -> Iterator[tuple[Sandbox, Vcpu]]:
    """Where the kernel's programs are known."""
    for sandbox, vcpu in _each(domains):
        if not sandbox.is_linux and is_own_kernel(sandbox.node.text("image"), Path(sandbox.where("image").file)):
            yield sandbox, vcpu


def has_its_program(domains: Domains) -> Iterator[Finding]:
    """ "" is a program that there is none of, and said to be."""
    for _, vcpu in _each_of_own_kernel(domains):
        if not vcpu.program or vcpu.program in PROGRAMS:
            continue
        meant = did_you_mean(vcpu.program, PROGRAMS)
        if vcpu.has(PROGRAM):
            yield Finding(vcpu.where(PROGRAM), f"`{OWN_KERNEL}` has no program `{vcpu.program}`, which `{vcpu.name}` is to run{meant}")
        else:
            yield Finding(vcpu.location, f"`{vcpu.name}` has no `{PROGRAM}`, and `{OWN_KERNEL}` has none of that name{meant}")


def made_by_a_known_kernel(domains: Domains) -> Iterator[Finding]:
    """Once of a sandbox, at its first."""
    for sandbox in domains.sandboxes:
        image = sandbox.node.text("image")
        if sandbox.is_linux or not sandbox.vcpus or is_provided_kernel(image, Path(sandbox.where("image").file)):
            continue
        names = [f"`{one.name}`" for one in sandbox.vcpus]
        made = f"VCPU {names[0]}" if len(names) == 1 else f"VCPUs {', '.join(names)}"
        text = f"`{image}` of `{sandbox.name}` is no kernel of the tool's, and nothing is known to make its {made}: what is predicted of {'it' if len(names) == 1 else 'them'} holds only if it schedules as docs/admission.md says"
        yield Finding(sandbox.vcpus[0].location, text)


def has_a_rate(domains: Domains) -> Iterator[Finding]:
    for sandbox, vcpu in _each(domains):
        if vcpu.is_io and not vcpu.has(RATE):
            text = f"`{vcpu.name}` has no `{RATE}`: how much its device's interrupts take from the other VCPUs of `{sandbox.name}` is in no analysis"
            yield Finding(vcpu.location, text)


def runs_where_its_input_is(domains: Domains) -> Iterator[Finding]:
    """Of an I/O VCPU on another core not_yet speaks."""
    for sandbox, vcpu in _each_of_own_kernel(domains):
        if vcpu.is_io or vcpu.program not in FIRST_CORE_PROGRAMS:
            continue
        for core in sandbox.cores[1:]:
            if core.node in vcpu.core_nodes:
                first = sandbox.cores[0].node.label
                text = f"`{vcpu.name}` runs `{vcpu.program}` on {core.node.label}, and `{sandbox.name}` gets the console's input on {first}, its first core"
                yield Finding(vcpu.where(CORE), text)
