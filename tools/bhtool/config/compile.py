# SPDX-License-Identifier: Apache-2.0
"""The configuration compiler: a partition file in, a Plan out.

    read ──► form ──► machine, domains ──► meaning ──► place ──► grants ──► budget ──► payloads ──► snapshot ──► table
Each stage works only on what the stages before found good; the first that finds an error is the last.
"""

from __future__ import annotations

from pathlib import Path

from bhtool.abi import lib
from bhtool.config.acpi import Bus, Port
from bhtool.config.bounded import IMAGE_BYTES, Unbounded, read_bounded
from bhtool.config.budget import count_tables, judge_budget, judge_pieces
from bhtool.config.domains import Domains, Sandbox, find_domains, read_domains
from bhtool.config.explain import MONITOR, list_holdings
from bhtool.config.form import judge_form
from bhtool.config.grants import grants_of, interrupt_controllers, plan_sandbox
from bhtool.config.linux_arm import linux_arm_payload
from bhtool.config.linux_x86 import linux_x86_payload
from bhtool.config.machine import BoardError, Device, read_machine
from bhtool.config.native import native_payload
from bhtool.config.nodes import no_domains
from bhtool.config.payload import NotYet, Payload, PayloadError, Resolve, Room, refuse_outside, refuse_overlaps
from bhtool.config.pci import bus_count, configuration, with_functions
from bhtool.config.pieces import pieces_in_ram
from bhtool.config.place import Free, NoRoom, place
from bhtool.config.plan import Diagnostic, Holding, Plan, Platform, SandboxPlan, Segment
from bhtool.config.pool import count_pool, frames_of, own_spans
from bhtool.config.rules import BY_ID, diagnose, judge_meaning
from bhtool.config.source import SourceError, read_source
from bhtool.config.table import make_info, make_table

BOARD, NO_ROOM, NO_IMAGE, NO_SNAPSHOT = "BH-R007", "BH-R037", "BH-R060", "BH-R084"
OUTSIDE_RAM, TOO_BIG, NOT_YET = "BH-R063", "BH-R065", "BH-W060"


class Refused(Exception):
    """A stage found errors; those after it have nothing to work on."""


def compile_partition(partition: Path, platform: Platform, resolve: Resolve) -> Plan:
    """Compiles and validates; what is wrong is in errors of the plan, never raised."""
    plan = Plan(platform.board_name, partition)
    try:
        domains = _read(plan, platform)
        plan.ram = [(span.start, span.size) for span in domains.machine.ram]
        free = _allocate(plan, domains, platform)
        for sandbox, one in zip(domains.sandboxes, plan.sandboxes, strict=True):
            _load(plan, domains, sandbox, one, platform.arch, resolve)
        _stop_on_errors(plan)
        _keep_snapshot(plan, domains, free)
        _settle_pools(plan, domains, platform)
        plan.table = make_table(plan, domains.machine.cores)
    except Refused:
        pass
    return plan


def survey_partition(partition: Path, platform: Platform) -> tuple[Plan, Domains | None]:
    """Who gets what, and where it lies, before any image is looked at. None: refused, and why is in errors of the plan."""
    plan = Plan(platform.board_name, partition)
    try:
        domains = _read(plan, platform)
        plan.ram = [(span.start, span.size) for span in domains.machine.ram]
        _allocate(plan, domains, platform)
    except Refused:
        return plan, None
    return plan, domains


def _add(plan: Plan, found: list[Diagnostic]) -> None:
    """Sorts findings into errors and warnings; Refused if there is an error."""
    plan.warnings += [one for one in found if BY_ID[one.rule].is_warning]
    plan.errors += [one for one in found if not BY_ID[one.rule].is_warning]
    _stop_on_errors(plan)


def _stop_on_errors(plan: Plan) -> None:
    if plan.errors:
        raise Refused


def _read(plan: Plan, platform: Platform) -> Domains:
    try:
        source = read_source(plan.file, platform.board)
        _add(plan, source.warnings + judge_form(source.root))
        node = find_domains(source.root)
        if node is None:
            _add(plan, [no_domains(source.root)])
        assert node is not None
        _add(plan, source.changes)
        domains = read_domains(node, with_functions(read_machine(source.root)))
    except SourceError as error:
        _add(plan, error.diagnostics)
        raise Refused from error
    except BoardError as error:
        _add(plan, [diagnose(BOARD, error.location, error.text)])
        raise Refused from error
    _add(plan, judge_meaning(domains))
    return domains


def _allocate(plan: Plan, domains: Domains, platform: Platform) -> Free:
    """Where everything lies and who may touch it; what is left."""
    try:
        free = _lay_out(plan, domains, platform)
    except NoRoom as full:
        text = f"there is no room for the {full.size >> 10} KiB of `{full.sandbox.name}`; the largest free stretch has {full.largest >> 10} KiB"
        _add(plan, [diagnose(NO_ROOM, full.sandbox.where("memory-region"), text)])
        raise Refused from full
    grants = {one.index: grants_of(domains, sandbox, one) for sandbox, one in zip(domains.sandboxes, plan.sandboxes, strict=True)}
    _add(plan, list(judge_budget(plan, grants)))
    for one in plan.sandboxes:
        plan.segments.append(Segment(f"{one.name}: information page", one.pool_hpa + lib.BH_POOL_INFO, make_info(one, grants[one.index])))
    return free


def _lay_out(plan: Plan, domains: Domains, platform: Platform) -> Free:
    """How many tables a pool holds depends on where everything lies, so places are tried with pools that grow until they suffice."""
    sizes = [lib.BH_POOL_ARENA] * len(domains.sandboxes)
    while True:
        placement = place(domains, sizes)
        plan.shared_hpa = placement.shared
        plan.sandboxes = [plan_sandbox(domains, placement, sandbox) for sandbox in domains.sandboxes]
        for one in plan.sandboxes:
            count_tables(one, platform.arch)
        _settle_pools(plan, domains, platform)
        needed = [min(one.pool_size, lib.BH_MAX_POOL_BYTES) for one in plan.sandboxes]
        if all(need <= size for need, size in zip(needed, sizes, strict=True)):
            return placement.free
        sizes = [max(pair) for pair in zip(needed, sizes, strict=True)]


def _settle_pools(plan: Plan, domains: Domains, platform: Platform) -> None:
    """What each monitor takes, as far as it is known."""
    for sandbox, one in zip(domains.sandboxes, plan.sandboxes, strict=True):
        spans = list(own_spans(domains.machine, sandbox, one, plan.sandboxes, plan.shared_hpa, platform.arch))
        one.pool_size = count_pool(one, spans, platform.arch, platform.backend)
        one.core_bytes = frames_of(platform.arch, platform.backend).core * lib.BH_PAGE_BYTES
    copies = [held for held in plan.holdings if held.what.startswith("boot snapshot of")]
    plan.holdings = list_holdings(domains, plan) + copies


def _load(plan: Plan, domains: Domains, sandbox: Sandbox, one: SandboxPlan, arch: str, resolve: Resolve) -> None:
    """One sandbox's software as segments of machine memory. Errors are noted, so that every sandbox gets its turn."""
    try:
        payload = _payload(domains, sandbox, one, arch, resolve)
        refuse_outside(payload, _room(one), TOO_BIG if sandbox.is_linux else OUTSIDE_RAM)
        refuse_overlaps(payload)
    except PayloadError as error:
        plan.errors.append(diagnose(error.rule, sandbox.where(error.property), error.text))
        return
    except NotYet as absent:
        text = f"`{absent}` of `{sandbox.name}` is not built or fetched yet, so where it lies was not judged"
        plan.warnings.append(diagnose(NOT_YET, sandbox.where(absent.property), text))
        return
    offset = one.ram_hpa - one.ram_gpa
    one.entry, one.arg, one.stack, one.entry_area = payload.entry, payload.arg, payload.stack, payload.entry_area
    one.clock_text = payload.clock_text + offset if payload.clock_text else 0
    plan.segments += [Segment(f"{one.name}: {piece.name}", piece.gpa + offset, piece.data) for piece in payload.pieces]


def _keep_snapshot(plan: Plan, domains: Domains, free: Free) -> None:
    """Room for what start-up keeps of a payload, where no sandbox comes near."""
    for sandbox, one in zip(domains.sandboxes, plan.sandboxes, strict=True):
        one.pieces = [(piece.start, len(piece.data)) for piece in pieces_in_ram(plan, one)] if one.restarts else []
        if not one.pieces:
            continue
        start = free.take(one.snapshot_size, lib.BH_PAGE_BYTES)
        if start is None:
            text = f"there is no room for the {one.snapshot_size >> 10} KiB that a restart of `{one.name}` needs"
            _add(plan, [diagnose(NO_SNAPSHOT, sandbox.location, text)])
            raise Refused
        one.snapshot_hpa = start
        plan.holdings.append(Holding("memory", start, one.snapshot_size, f"boot snapshot of `{one.name}`", MONITOR, None))
    _add(plan, list(judge_pieces(plan)))


def _read_file(resolve: Resolve, sandbox: Sandbox, name: str) -> bytes:
    """The file a property names; nothing if there is no such property."""
    file = sandbox.node.text(name)
    if not file:
        return b""
    try:
        return read_bounded(resolve(file), IMAGE_BYTES)
    except NotYet as absent:
        absent.property = name
        raise
    except FileNotFoundError as error:
        raise PayloadError(NO_IMAGE, f"there is no file `{file}` for `{sandbox.name}`", name) from error
    except OSError as error:
        raise PayloadError(NO_IMAGE, f"`{file}` for `{sandbox.name}` cannot be read ({error.strerror})", name) from error
    except Unbounded as error:
        raise PayloadError(NO_IMAGE, f"`{file}` for `{sandbox.name}` {error}", name) from error


def _room(plan: SandboxPlan) -> Room:
    return Room(plan.ram_gpa, plan.ram_size)


def _payload(domains: Domains, sandbox: Sandbox, plan: SandboxPlan, arch: str, resolve: Resolve) -> Payload:
    room = _room(plan)
    image, initrd = _read_file(resolve, sandbox, "image"), _read_file(resolve, sandbox, "initrd")
    if not sandbox.is_linux:
        return native_payload(image, plan.image, arch, room, domains.machine.window)
    if domains.machine.is_arm:
        controllers = interrupt_controllers(domains.machine, sandbox)
        return linux_arm_payload(arch, image, initrd, plan.image, domains.machine, plan, sandbox.devices, controllers)
    uarts = [Port(span.start, span.size, device.wires[:1]) for device in _console_first(sandbox) if device.is_uart for span in device.ports]
    return linux_x86_payload(image, initrd, plan.image, plan.bootargs, plan.hardware_ids, uarts, _bus(sandbox), room)


def _console_first(sandbox: Sandbox) -> list[Device]:
    return sorted(sandbox.devices, key=lambda device: device.node is not sandbox.console_node)


def _bus(sandbox: Sandbox) -> Bus | None:
    """The buses of its PCI functions, where a kernel can read them without exits."""
    own = [(device, device.function) for device in sandbox.devices if device.function]
    held = configuration(own[0][1].host) if own else None
    if not held:
        return None
    routes = [
        (function.id >> 3, pin - 1, wire)
        for device, function in own
        for pin, wire in zip(device.node.properties["interrupts"].cells if device.wires else [], device.wires, strict=False)
    ]
    memory = [bar.span for _, function in own for bar in function.bars if not bar.is_ports]
    ports = [bar.span for _, function in own for bar in function.bars if bar.is_ports]
    return Bus(held, bus_count(own[0][1].host) - 1, tuple(memory), tuple(ports), tuple(routes))
