# SPDX-License-Identifier: Apache-2.0
"""BH-F2.linux, BH-F2.cores. Unmodified Debian on two cores, as dts/partitions/linux2.dts gives them: started, used, stopped, started again.

It reboots as it would on the machine below: its sandbox begins again, nobody else notices.

One machine a platform serves all tests of this file, in their order; time is the host's.
"""

import re
from collections.abc import Iterator

import pytest
from bhtool import paths
from bhtool.image.payloads import READY_LINE
from bhtool.machine.dialogue import Dialogue
from bhtool.machine.memory import Exits, Stats
from bhtool.machine.session import CrashEvent, EndEvent, LineEvent, Session
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.case import ALL, ARMV7, VTX, X86
from tests.emulated.linux_shell import BOOT_SECONDS, linux_shell
from tests.emulated.scene import platform_or_skip, stage_file
from tests.emulated.test_linux import BOOT_EXITS, STEADY, UART_ROW, WORK_SECONDS, exits, stats

LINUX2 = paths.PARTITIONS / "linux2.dts"
HEALTH = 'health { on-fault = "restart"; max-restarts = <1>; then = "park"; };'
SMALLER = ("MiB(512)", "MiB(256)")  # less to clear at every start
REBOOTS = {VTX: 1}  # Bochs is slow: that they are no faults, of which there may be one, is seen elsewhere
CPU1 = "/sys/devices/system/cpu/cpu1/online"
IPI_ROW = dict.fromkeys(X86, "RES|CAL|TLB")  # of /proc/interrupts; "IPI" on ARM
SECOND_CORE = 50  # exits while it is started
ROUNDS, IPIS, SLACK = 300, 200, 40  # of a byte there and back; what each core sends at least; what looking costs at most
REPLUGS, KICKS = 3, 300
OFF_SECONDS, SETTLE_SECONDS = 20.0, 2.0
BACKTRACES = 5
MOVE_EXITS, MOVE_TRIES = (
    9,
    5,
)  # of the I/O APIC, to send a line elsewhere: Linux masks, writes both words and unmasks, and every word is selected first
TRY_EXITS = 5  # it masks and unmasks in vain when an interrupt is still on its way, and tries again at the next one
BACKTRACE = dict.fromkeys((*X86, ARMV7), "NMI backtrace for cpu")  # as the kernel calls what it does without an NMI elsewhere: "sysrq: CPU"

PLATFORMS = [pytest.param(name, marks=pytest.mark.xdist_group(f"linux-cores-{name}")) for name in ALL]
pytestmark = [pytest.mark.slow, pytest.mark.parametrize("platform", PLATFORMS, scope="module")]


@pytest.fixture(scope="module")
def machine_platform(platform: str) -> Platform:
    return platform_or_skip(platform)


@pytest.fixture(scope="module")
def shell(machine_platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dialogue]:
    text = LINUX2.read_text()
    bootargs = f'bootargs = "{lean(machine_platform.name)}"; {HEALTH}'
    for old, new in (SMALLER, ('bootargs = "quiet";', bootargs)):
        assert text.count(old) == 1
        text = text.replace(old, new)
    file = tmp_path_factory.mktemp("linux") / "linux2.dts"
    file.write_text(text)
    scene = stage_file(machine_platform, file)
    with linux_shell(machine_platform, scene) as dialogue:
        yield dialogue


def sent(shell: Dialogue) -> list[int]:
    """IPIs that each core's monitor has let pass or refused."""
    shell.session.poll()
    return [core["ipi"] for core in stats(shell).core_exits]


def received(shell: Dialogue, platform: Platform) -> list[int]:
    """IPIs that each core has taken, as Linux counts them."""
    rows = shell.ask(f"grep -E '^ *({IPI_ROW.get(platform.name, 'IPI')})' /proc/interrupts")
    counts = [[int(number) for number in re.findall(r"\b\d+\b", row.partition(":")[2])[:2]] for row in rows]
    return [sum(core) for core in zip(*counts, strict=True)]


def pipe_between_cores(shell: Dialogue) -> None:
    """A byte goes there and back, again and again: whoever waits for it sleeps, and is woken by an IPI."""
    count = f"n=0; while [ $n -lt {ROUNDS} ]; do"
    there = f"taskset -c 0 sh -c '{count} echo; read x <&3; n=$((n + 1)); done' >/tmp/there 3</tmp/back"
    back = f"taskset -c 1 sh -c '{count} read x; echo; n=$((n + 1)); done' </tmp/there >/tmp/back"
    shell.ask("rm -f /tmp/there /tmp/back; mkfifo /tmp/there /tmp/back")
    shell.ask(f"({back} & {there}; wait)", WORK_SECONDS)


def without(counted: Exits, *reasons: str) -> int:
    return sum(count for reason, count in counted.items() if reason not in reasons)


def beats(shell: Dialogue) -> dict[str, int]:
    watches = shell.session.watches
    return {name: beat.beats for name in ("control", "sensor") if (beat := watches[name].heartbeat)}


def test_two_processors(shell: Dialogue) -> None:
    assert shell.number("nproc") == 2
    assert shell.number("grep -c ^processor /proc/cpuinfo") == 2
    assert shell.ask("cat /sys/devices/system/cpu/online") == ["0-1"]


def test_boot_exits(shell: Dialogue) -> None:
    boot = shell.session.watches["linux"].exits_boot()
    assert without(boot, "identify", "ipi", "idle") <= BOOT_EXITS + SECOND_CORE, boot


def test_an_ipi_is_one_exit_at_its_sender(shell: Dialogue, machine_platform: Platform) -> None:
    """What one core sent, the other received; nothing else exits but what one core may cost."""
    before, sent_before, received_before = exits(shell), sent(shell), received(shell, machine_platform)
    sent_since = [0, 0]
    while min(sent_since) < IPIS:
        pipe_between_cores(shell)
        sent_since = [now - then for now, then in zip(sent(shell), sent_before, strict=True)]
    received_since = [now - then for now, then in zip(received(shell, machine_platform), received_before, strict=True)]
    for sender, receiver in ((0, 1), (1, 0)):
        assert abs(sent_since[sender] - received_since[receiver]) <= SLACK, (sent_since, received_since)
    after = exits(shell)
    risen = {reason for reason in after if after[reason] > before.get(reason, 0)}
    assert risen <= STEADY[machine_platform.name] | {"ipi"}, (before, after)


def device_exits(shell: Dialogue) -> int:
    return exits(shell).get("device", 0)


def use_uart(shell: Dialogue) -> None:
    for _ in range(10):
        shell.ask("head -c 200 /bin/busybox | md5sum")


def test_a_line_moves_between_own_cores(shell: Dialogue, machine_platform: Platform) -> None:
    """Through the controller's filter: the UART's interrupts arrive where Linux wants them, and moving them costs what it costs."""
    row = UART_ROW[machine_platform.name]
    line = shell.number(f"awk -F: '/{row}/ {{ print $1 }}' /proc/interrupts")
    for core in (1, 0):
        taken = f"awk '/{row}/ {{ print ${core + 2} }}' /proc/interrupts"
        before, count = device_exits(shell), shell.number(taken)
        shell.ask(f"echo {1 << core} > /proc/irq/{line}/smp_affinity")
        use_uart(shell)
        assert shell.number(taken) > count
        settled = device_exits(shell)
        assert settled - before <= MOVE_EXITS + (MOVE_TRIES - 1) * TRY_EXITS
        use_uart(shell)
        assert device_exits(shell) == settled  # once moved, it comes without exits as before


def test_a_core_is_unplugged_and_plugged_in_again(shell: Dialogue) -> None:
    for _ in range(REPLUGS):
        assert shell.ask(f"echo 0 > {CPU1}; nproc; cat /sys/devices/system/cpu/online") == ["1", "0"]
        assert shell.ask("md5sum /bin/busybox > /dev/null; echo alone") == ["alone"]
        assert shell.ask(f"echo 1 > {CPU1}; nproc; cat /sys/devices/system/cpu/online") == ["2", "0-1"]
        assert shell.ask("taskset -c 1 md5sum /bin/busybox > /dev/null && echo together") == ["together"]


def test_kicks_go_unnoticed(shell: Dialogue) -> None:
    """Another monitor kicks Linux's while both cores work, then while one of them is switched off."""
    for online in (1, 0):
        shell.ask(f"echo {online} > {CPU1}")
        already = stats(shell).kicks
        shell.session.watches["sensor"].console.write(f"kick=2,{KICKS}\n".encode())
        while stats(shell).kicks < already + KICKS:
            shell.ask("(md5sum /bin/busybox /bin/busybox > /dev/null & md5sum /bin/busybox > /dev/null; wait)", WORK_SECONDS)
        assert stats(shell).kicks == already + KICKS
        assert shell.ask(f"echo 1 > {CPU1}; nproc") == ["2"]
        pipe_between_cores(shell)


def test_backtraces_harm_no_program(shell: Dialogue, machine_platform: Platform) -> None:
    """One core breaks into the other, whatever runs there: on x86 by an NMI, which user programs must survive."""
    shell.ask("(while :; do :; done) & (while :; do :; done) & sleep 1")
    shell.ask(f"n=0; while [ $n -lt {BACKTRACES} ]; do echo l > /proc/sysrq-trigger; n=$((n + 1)); done", WORK_SECONDS)
    assert shell.number(f"dmesg | grep -cE '{BACKTRACE.get(machine_platform.name, 'sysrq: CPU')}'") >= BACKTRACES
    assert shell.number("jobs | grep -c Running") == 2
    shell.ask("kill %1 %2; wait")


def wait_for_reboot(session: Session, reboots: int) -> None:
    """Until the new kernel's shell is up."""
    for event in session.events(BOOT_SECONDS):
        assert not isinstance(event, EndEvent), event
        again = isinstance(event, LineEvent) and event.sandbox == "linux" and READY_LINE in event.text
        if again and session.watches["linux"].restarts == reboots:
            return
    watch = session.watches["linux"]
    pytest.fail(f"linux: {watch.state}, {watch.restarts} restarts, {watch.crash}")


def others(shell: Dialogue) -> dict[str, tuple[str, int, Stats | None]]:
    """How those beside Linux stand, exits and all."""
    shell.session.poll()
    return {name: (watch.state, watch.restarts, watch.stats) for name, watch in shell.session.watches.items() if name != "linux"}


def test_it_reboots_alone(shell: Dialogue, machine_platform: Platform) -> None:
    session, before = shell.session, others(shell)
    wanted = REBOOTS.get(machine_platform.name, 2)
    for reboots in range(1, wanted + 1):
        shell.ask("touch /tmp/of-this-life")
        session.watches["linux"].console.write(b"reboot -f\n")
        wait_for_reboot(session, reboots)
        assert shell.number("grep -c ^processor /proc/cpuinfo") == 2
        assert shell.number("ls /tmp | grep -c of-this-life") == 0
    assert (session.watches["linux"].restarts, session.watches["linux"].crash) == (wanted, None)
    assert others(shell) == before
    assert {state for state, *_ in before.values()} == {"ready"}


def test_switching_off_ends_both_cores_and_nobody_else(shell: Dialogue) -> None:
    watches = shell.session.watches
    watches["linux"].console.write(b"poweroff -f\n")
    for event in shell.session.events(OFF_SECONDS):
        if event is None and watches["linux"].state == "off":
            break
    assert (watches["linux"].state, watches["linux"].crash) == ("off", None)
    for _ in shell.session.events(SETTLE_SECONDS):  # the state is told first, then the other core is kicked
        pass
    quiet, before = stats(shell).core_exits, beats(shell)
    assert not any(isinstance(event, EndEvent | CrashEvent) for event in shell.session.events(1.0))
    assert stats(shell).core_exits == quiet
    assert all(count > before[name] for name, count in beats(shell).items())
