# SPDX-License-Identifier: Apache-2.0
"""`bulkhead run`: builds, starts the machine, shows every sandbox's console under its name, ends with a table."""

import math
from dataclasses import dataclass
from pathlib import Path

import click

from bhtool import paths
from bhtool.children import interruptible
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.config.vcpus import MAIN_PROGRAM, is_own_kernel
from bhtool.errors import BulkheadError, Status
from bhtool.image import disc
from bhtool.image.stages import judged_plan, make_image, warnings_json
from bhtool.jsonfile import write_json
from bhtool.machine.attach import Attachment, Left, require_foreground, require_input, require_sandbox
from bhtool.machine.emulated import Machine, always_counts, timing_for, versions
from bhtool.machine.goal import Goal, lacking
from bhtool.machine.memory import Heartbeat
from bhtool.machine.session import EndEvent, Session, Watch
from bhtool.machine.wiring import DEBIAN, Disc, Wiring, discs_of, networks_of, require_ports
from bhtool.platforms import DEFAULT, Platform, load, names
from bhtool.report import summary
from bhtool.report.channels import channel_table, channel_use, channels_json
from bhtool.report.lateness import real_gaps, tells_turns
from bhtool.report.run_json import run_json
from bhtool.report.show import Show
from bhtool.terminal.logfile import Log
from bhtool.terminal.screen import Screen
from bhtool.text import all_of, counted, did_you_mean
from bhtool.trace.given import Given, given, given_json, given_table, missed_caption
from bhtool.trace.tell import traced_at
from bhtool.verbs.options import Output, Seconds, strict_option

DEMO = paths.PARTITIONS / "mixed.dts"
CLOCKS = {"auto": None, "exact": True, "host": False}
HOST_LIMIT = 600.0
MAKING = ("vcpu=", "start=")  # words of `bootargs` that make VCPUs: kernel/core/commands.c


def watch_until(session: Session, goal: Goal, show: Show, screen: Screen, limit: float) -> Status:
    """Shows the run until its goal; FAILED if the machine ended first, TIME_LIMIT if it never got there."""
    with screen.progress("starting the machine"), show, interruptible():
        for event in session.events(limit):
            if isinstance(event, EndEvent):
                return ended(event, session, screen)
            if event is not None:
                show.event(event)
            elif hopeless := goal.hopeless():
                screen.complain(hopeless)
                return Status.FAILED
            elif goal.reached():
                if goal.note:
                    screen.warn(goal.note)
                return Status.GOOD
            else:
                show.look()
        screen.complain(f"time limit: {show.waiting_for()} after {limit:.0f} s")
        return Status.TIME_LIMIT
    return Status.INTERRUPTED


def ended(event: EndEvent, session: Session, screen: Screen) -> Status:
    if event.status in session.platform.emulator.good_exits and all(watch.settled for watch in session.watches.values()):
        return Status.GOOD
    said = f": {event.complaint}" if event.complaint else ""
    screen.complain(f"the machine ended early, status {event.status}{said}")
    return Status.FAILED


def known_vcpus(plan: Plan, sandbox: SandboxPlan) -> list[str] | None:
    """Names of all VCPUs that it will have. None: its kernel, or a word of its boot arguments, may make others."""
    if sandbox.os == "linux":
        return []
    if not is_own_kernel(sandbox.image, plan.file) or any(word in sandbox.bootargs for word in MAKING):
        return None
    return [*(vcpu.name for vcpu in sandbox.vcpus), MAIN_PROGRAM] if sandbox.vcpus else []


def require_vcpu(plan: Plan, name: str) -> None:
    """Refuses a SANDBOX/VCPU that there will not be, as far as is known before the start. Requires: there is the sandbox."""
    owner, slash, vcpu = name.partition("/")
    known = known_vcpus(plan, require_sandbox(plan, owner)) if slash else None
    if known is not None and vcpu not in known:
        text = f"--expect-punctual: `{owner}` has no VCPU `{vcpu}`{did_you_mean(vcpu, known)}; {all_of(known)}"
        raise BulkheadError(text, Status.USAGE)


@dataclass(frozen=True)
class Expected:
    """What is asked of whom, besides coming through. Of a VCPU, SANDBOX/VCPU, that its program misses no period and is done within each."""

    parked: tuple[str, ...]
    punctual: tuple[str, ...]
    ready: bool  # all of them
    seconds: float = 0.0  # how long the run was to go on; 0: as long as it takes

    def require_known(self, plan: Plan) -> None:
        for option, asked in (("parked", self.parked), ("punctual", self.punctual)):
            for name in asked:
                require_sandbox(plan, name.partition("/")[0] if option == "punctual" else name, f"--expect-{option}")
        for name in self.punctual:
            require_vcpu(plan, name)

    def vcpu_failures(self, found: list[Given]) -> dict[str, str]:
        """By SANDBOX/VCPU, why it fails the run."""
        failures = {}
        for name in (one for one in self.punctual if "/" in one):
            known = [one for one in found if f"{one.sandbox}/{one.name}" == name]  # cores may have one each
            whys = [why for one in known if (why := missed_text(one))]
            if whys or not known:
                failures[name] = "; ".join(whys) or "should have been punctual: its sandbox has no such VCPU"
        return failures


def lateness(beat: Heartbeat, tells: bool) -> str:
    """Of a sandbox that should have been punctual, where the table shows fewer with what it explains."""
    late = f"should have been punctual: {beat.gaps:,} of {counted(beat.beats, 'beat')} came late by a period or more"
    turns = real_gaps(beat, tells) != beat.gaps
    return f"{late}, turns of the emulator included (--expect-punctual counts them)" if turns else late


def missed_text(one: Given) -> str:
    """Why this VCPU was not punctual; empty: it was. Its first round begins a period after it was made, and the last one may be on its way."""
    periods = one.elapsed // one.period
    if not one.run or not one.run.rounds:
        return "should have been punctual: its program began no period"
    if one.run.missed:
        return f"should have been punctual: missed {counted(one.run.missed, 'period')}"
    if one.run.done_ns > one.period:
        return f"should have been punctual: a round was done {one.run.done_ns / 1000:,.0f} us after its period of {one.period / 1000:,.0f} us began"
    if one.run.rounds > periods + 1:
        return f"should have been punctual: its program keeps no periods, with {one.run.rounds:,} rounds in {periods:,} of them"
    if not one.run.done_ns:
        return "should have been punctual: its program does not say when its rounds are done"
    return f"should have been punctual: began {one.run.rounds:,} of {periods:,} periods" if one.run.rounds + 2 < periods else ""


def failure(watch: Watch, expected: Expected, tells: bool = False) -> str:
    """Why this sandbox fails the run; empty: it does not. `tells`: the table tells turns of the emulator from delays."""
    if watch.plan.name in expected.punctual:
        if not watch.heartbeat or not watch.heartbeat.beats:
            return "should have been punctual: never beat"
        if watch.heartbeat.gaps:
            return lateness(watch.heartbeat, tells)
    if watch.plan.name in expected.parked:
        return "" if watch.harmed else "should have been parked and was not"
    if watch.harmed:
        if watch.panic:
            return f"had a kernel panic: {watch.panic.text}"
        return "was parked; what it did stands in its crash record above" if watch.state == "parked" else "had a fault; see above"
    return f"did not get ready: {lacking(watch)}" if expected.ready and not watch.ready else ""


def unstarted(session: Session, watch: Watch, seconds: float) -> str:
    """Why a sandbox that is still to be started when its time is over fails the run; empty: it has been started."""
    if watch.state != "cold":
        return ""
    now, firmware = session.guest_seconds(), session.monitor_seconds
    share = "all of it before the monitor was loaded" if firmware is None else f"of which firmware and loader took {firmware:.1f} s"
    remedy = "; give more --seconds" if now >= seconds else ""
    return f"was not started within {now:.1f} s of guest time, {share}{remedy}"


def judged(session: Session, status: Status, expected: Expected, screen: Screen, found: list[Given]) -> Status:
    if status != Status.GOOD:
        return status
    failures = {
        name: why
        for name, watch in session.watches.items()
        if (why := unstarted(session, watch, expected.seconds) or failure(watch, expected, tells_turns(session)))
    }
    failures |= expected.vcpu_failures(found)
    for name, why in failures.items():
        screen.complain(f"{name} {why}")
    return Status.FAILED if failures else status


def attach_console(session: Session, name: str, screen: Screen, limit: float) -> Status:
    """Until the user leaves. FAILED if the machine ended early, TIME_LIMIT if the user stayed longer than `limit` host seconds, INTERRUPTED if SIGINT
    came from elsewhere: Ctrl-C is the sandbox's."""
    left: Left | EndEvent | None = None
    time = "" if session.machine.is_counted else "guest time follows this host; "
    with interruptible():  # from before somebody is told that it is there to be interrupted
        screen.report(f"attached to {name}; {time}Enter gives a prompt, unless a program reads what is typed; Ctrl-] leaves")
        with screen.handed_over():
            left = Attachment(session, name).run(limit, Show(screen, session).event)
    screen.say("")
    if isinstance(left, EndEvent):
        return ended(left, session, screen)
    if left == Left.TIME_LIMIT:
        screen.complain(f"time limit: still attached to {name} after {limit:.0f} s; a longer --limit, or none, gives more")
        return Status.TIME_LIMIT
    return Status.GOOD if left else Status.INTERRUPTED


def inserted(platform: Platform, what: str, screen: Screen) -> Disc:
    """What `--disk` names: a file, or the tool's own disc, which is fetched and made the first time."""
    if what == DEBIAN:
        return Disc(disc.debian(platform.programs_architecture, (), disc.DEFAULT, screen.report), forgets=True)
    return Disc(Path(what).absolute())


def require_time_for_attach(clock: str, platform: Platform) -> None:
    """Counted instructions would run ahead of who types wherever all cores sleep."""
    if clock == "exact" and not always_counts(platform):
        text = f"--attach makes guest time follow this host on {platform.name}, so it excludes --time exact; leave out one of them"
        raise BulkheadError(text, Status.USAGE)


@click.command()
@click.option("--platform", "platform_name", type=click.Choice(names()), default=DEFAULT, show_default=True, help="Which machine.")
@click.option("--partition", type=click.Path(path_type=Path), default=DEMO, help="Who owns what; default: the mixed-criticality demo.")
@click.option("--seconds", type=Seconds(min=0), help="Stop after so many seconds of guest time; not with --attach.")
@click.option("--until", type=click.Choice(["ready"]), help="Stop when every sandbox is ready; not with --attach.")
@click.option("--attach", metavar="SANDBOX", help="Use this sandbox's console until Ctrl-], or for as long as --limit says.")
@click.option("--json", "json_file", type=Output(), help="Write the result as JSON.")
@click.option("--log", "log_file", type=Output(), help="Write everything that is said, with guest time and names.")
@click.option(
    "--time",
    "clock",
    type=click.Choice(["auto", "exact", "host"]),
    default="auto",
    help="exact: count instructions, not with --attach; host: follow the host, as --attach does; auto: what is fast.",
)
@click.option("--expect-parked", multiple=True, metavar="SANDBOX", help="Fail if this one is not parked, rather than if it is.")
@click.option(
    "--expect-punctual",
    multiple=True,
    metavar="SANDBOX[/VCPU]",
    help="Fail if a beat of this one comes late by a period or more; of a VCPU, if its program misses a period, or a round is done after its period.",
)
@click.option(
    "--network", "networks", multiple=True, metavar="NIC=KIND", help="Connect a network card: none, hub, user or host; see above."
)
@click.option(
    "--forward", "forwards", multiple=True, metavar="[NIC=]HOST:GUEST", help="Hand TCP connections to a port of this host to the sandbox."
)
@click.option("--pcap", "pcaps", multiple=True, metavar="[NIC=]FILE", help="Write what a card sends and receives, for Wireshark.")
@click.option("--disk", "disks", multiple=True, metavar="NAME=FILE", help="The disc in a drive; `debian`: the tool's own, which forgets.")
@click.option(
    "--limit",
    type=Seconds(min=1),
    show_default=f"{HOST_LIMIT:.0f}; none with --attach",
    help="Host seconds after which the run is given up, or --attach ends.",
)
@strict_option
def run(
    platform_name: str,
    partition: Path,
    seconds: float | None,
    until: str | None,
    attach: str | None,
    json_file: Path | None,
    log_file: Path | None,
    clock: str,
    limit: float | None,
    expect_parked: tuple[str, ...],
    expect_punctual: tuple[str, ...],
    networks: tuple[str, ...],
    forwards: tuple[str, ...],
    pcaps: tuple[str, ...],
    disks: tuple[str, ...],
    strict: bool,
) -> Status:
    """Start a machine split into sandboxes and show what they do.

    Without --seconds and --until it goes on for ten seconds of guest time after every sandbox is ready. It fails, with
    status 1, when a sandbox is parked that was not expected to be; with --seconds when one has not even been started by
    then, for firmware's time counts; and without when one does not get ready.

    Network cards of the platform are connected to nothing (none), to each other (hub), to a network of the emulator's with DHCP and nothing behind it (user), or
    to this host and what it reaches, under the address 10.0.2.2 (host). --forward and --pcap without a NIC mean the first card, and --forward connects
    it to `user`. A machine that this host talks to follows the host's time.
    """
    if seconds is not None and until:
        raise BulkheadError("--seconds and --until exclude each other", Status.USAGE)
    if attach and (seconds is not None or until or expect_parked or expect_punctual):
        raise BulkheadError(
            "--attach goes on until Ctrl-] or --limit; leave out --seconds, --until, --expect-parked and --expect-punctual", Status.USAGE
        )
    platform = load(platform_name)
    if attach:
        require_time_for_attach(clock, platform)
        require_foreground("--attach")
    screen = Screen()
    if log_file:
        screen.log = click.get_current_context().with_resource(Log(log_file))
    cards, drives = networks_of(platform, networks, forwards, pcaps), discs_of(platform, disks)
    require_ports(cards)
    with screen.progress("preparing"):
        plan = judged_plan(platform, partition, screen, strict)
        expected = Expected(expect_parked, expect_punctual, ready=seconds is None, seconds=seconds or 0.0)
        expected.require_known(plan)
        if attach:
            require_input(plan, attach)
        image = make_image(platform, plan)
        wiring = Wiring(cards, {name: inserted(platform, what, screen) for name, what in drives.items()})
    follows_host = attach or (clock == "auto" and wiring.follows_host)
    timing = timing_for(platform, plan, False if follows_host else CLOCKS[clock])
    places = traced_at(platform, plan)  # now: after an interrupt the programs that it starts might be interrupted, too
    with Session(platform, plan, Machine(platform, image, timing, wiring=wiring)) as session:
        if attach:
            status = attach_console(session, attach, screen, limit or math.inf)
        else:
            goal = Goal(session, seconds, until == "ready", expect_parked)
            status = watch_until(session, goal, Show(screen, session), screen, limit or HOST_LIMIT)
        with session.machine.held():
            had, carried = given(session.memory, plan, places), channel_use(session.memory, plan)
        if not attach:
            status = judged(session, status, expected, screen, had)
        if had:
            screen.summary(given_table(had, missed_caption(session, had)))
        if carried:
            screen.summary(channel_table(carried))
        screen.summary(summary.summary(session))
        if json_file:
            whole = run_json(session, given_json(had), channels_json(carried)) | warnings_json(plan)
            write_json(json_file, "run", whole, versions(platform))
    return status
