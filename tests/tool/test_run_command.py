# SPDX-License-Identifier: Apache-2.0
"""`bulkhead run` as a user and a script see it: statuses, JSON, crash reports, the attached console."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pexpect
import pytest
from bhtool import paths
from bhtool.errors import Status
from bhtool.machine.memory import Heartbeat
from bhtool.machine.session import Session, Watch
from bhtool.verbs.run import Expected, failure, unstarted

NATIVE, RESTART = paths.PARTITIONS / "native.dts", paths.PARTITIONS / "restart.dts"
PLATFORMS = ["qemu-aarch64", "qemu-svm"]
LIMIT = 120
COMMAND = [sys.executable, "-m", "bhtool", "run"]

# Keys on which scripts rely: docs/versions.md.
MACHINE = {"platform", "backend", "partition", "guest_seconds", "tells_turns", "dma_faults"}
DOCUMENT = MACHINE | {"schema", "versions", "sandboxes", "channels", "warnings"}
ENTERED = {"name", "cpus", "ready", "state", "kicks", "restarts", "longest_restart_ticks"}
SANDBOX = ENTERED | {"exits_boot", "exits_steady", "steady_seconds", "cores", "heartbeat", "vcpus", "panic", "crash"}
HEARTBEAT = {"beats", "period_ns", "gaps", "gaps_real", "late_max_ns", "awake_late_max_ns"}
ACCESS = {"access", "address", "virtual", "value", "width"}
CRASH = ACCESS | {"reason", "core", "pc", "raw", "clock", "registers", "explanation", "place", "callers"}

pytestmark = pytest.mark.slow


def run(*arguments: str | Path, limit: float = LIMIT) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(paths.ROOT / "tools"), "PATH": "/usr/bin:/bin", "COLUMNS": "100"}
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment, check=False)


def native_with(folder: Path, sandbox: str, line: str) -> Path:
    """native.dts with one more property in one sandbox."""
    text = NATIVE.read_text()
    opening = f"\t\t{sandbox}: {sandbox} {{\n"
    assert opening in text
    file = folder / "changed.dts"
    file.write_text(text.replace(opening, f"{opening}\t\t\t{line}\n"))
    return file


@pytest.mark.parametrize("platform", PLATFORMS)
def test_until_ready_succeeds_and_writes_what_the_contract_says(platform: str, tmp_path: Path) -> None:
    result = tmp_path / "run.json"
    done = run("--platform", platform, "--partition", NATIVE, "--until", "ready", "--json", result)
    assert done.returncode == Status.GOOD, done.stdout + done.stderr
    for name in ("north", "east", "south", "west"):
        lines = [line.lstrip() for line in done.stdout.splitlines() if line.lstrip().startswith(f"{name} │ ")]
        assert lines[0] == f"{name} │ alive", "its own name is not said twice"
        assert f"{name} │ is ready" in lines
    found: dict[str, Any] = json.loads(result.read_text())
    assert found.keys() == DOCUMENT
    assert found["platform"] == platform
    for sandbox in found["sandboxes"]:
        assert sandbox.keys() == SANDBOX
        assert sandbox["heartbeat"].keys() == HEARTBEAT
        assert all(core.keys() == {"core", "exits_boot", "exits_steady", "kicks"} for core in sandbox["cores"])
        assert sandbox["ready"] is True
        assert len(sandbox["cpus"]) == 1
        assert sandbox["exits_boot"]["call"] == 1
        assert [core["core"] for core in sandbox["cores"]] == sandbox["cpus"]
        assert sum(core["exits_boot"]["call"] for core in sandbox["cores"]) == 1


def test_seconds_are_guest_time(tmp_path: Path) -> None:
    result = tmp_path / "run.json"
    done = run("--partition", NATIVE, "--seconds", "3", "--json", result)
    assert done.returncode == Status.GOOD, done.stdout + done.stderr
    found = json.loads(result.read_text())
    assert found["guest_seconds"] >= 3
    for sandbox in found["sandboxes"]:
        assert sandbox["heartbeat"]["beats"] >= 2500
        assert sandbox["heartbeat"]["gaps"] == 0


def native_told(folder: Path, arguments: dict[str, str]) -> Path:
    """native.dts with probes for its sandboxes, and arguments for them."""
    text = NATIVE.read_text().replace("sandbox-kernel.elf", "probe.elf")
    for sandbox, told in arguments.items():
        opening = f"\t\t{sandbox}: {sandbox} {{\n"
        assert opening in text
        text = text.replace(opening, f'{opening}\t\t\tbootargs = "{told}";\n')
    file = folder / "told.dts"
    file.write_text(text)
    return file


def test_seconds_go_on_when_the_only_heartbeat_ends(tmp_path: Path) -> None:
    """Guest time is the machine's, not that of somebody's beats."""
    partition = native_told(
        tmp_path, {"north": "heartbeat=0 spin", "east": "heartbeat=0", "south": "write=0x70000000", "west": "heartbeat=0"}
    )
    result = tmp_path / "run.json"
    done = run("--partition", partition, "--seconds", "0.5", "--expect-parked", "south", "--json", result)
    assert done.returncode == Status.GOOD, done.stdout + done.stderr
    found = json.loads(result.read_text())
    assert 0.5 <= found["guest_seconds"] < 60
    assert all(one["state"] != "cold" for one in found["sandboxes"])
    crashes = [one["crash"] for one in found["sandboxes"] if one["crash"]]
    assert [one.keys() for one in crashes] == [CRASH]


@pytest.mark.parametrize("platform", [*PLATFORMS, "qemu-armv7"])
def test_a_delay_is_told_from_turns_of_busy_cores(platform: str, tmp_path: Path) -> None:
    """Beside three cores that never sleep, a core that sleeps is woken late, by turns alone; one that keeps its beat off itself is late indeed."""
    late = {}
    for doing in ("delay=50", "ticks=1"):
        busy = dict.fromkeys(("north", "east", "west"), "heartbeat=0 spin")
        partition, result = native_told(tmp_path, busy | {"south": doing}), tmp_path / "run.json"
        done = run("--platform", platform, "--partition", partition, "--seconds", "0.5", "--json", result)
        assert done.returncode == Status.GOOD, done.stdout + done.stderr
        late[doing] = next(one["heartbeat"] for one in json.loads(result.read_text())["sandboxes"] if one["name"] == "south")
    assert late["delay=50"]["awake_late_max_ns"] >= 50_000
    assert late["ticks=1"]["late_max_ns"] > 0, "turns"
    assert late["ticks=1"]["awake_late_max_ns"] < late["ticks=1"]["late_max_ns"]


@pytest.mark.parametrize(("platform", "seconds"), [("qemu-svm", "0.001"), pytest.param("bochs-vtx", "0.1", marks=pytest.mark.long)])
def test_a_sandbox_that_was_never_started_fails_a_timed_run(platform: str, seconds: str) -> None:
    """Firmware's time counts."""
    done = run("--platform", platform, "--partition", NATIVE, "--seconds", seconds)
    assert done.returncode == Status.FAILED, done.stdout + done.stderr
    told = [line for line in done.stderr.splitlines() if "was not started within" in line]
    assert len(told) == 4, done.stderr
    assert all(line.endswith("give more --seconds") for line in told)


@pytest.mark.parametrize(
    ("state", "monitor", "now", "said"),
    [
        ("running", None, 1.0, ""),
        ("cold", None, 1.0, "was not started within 1.0 s of guest time, all of it before the monitor was loaded; give more --seconds"),
        ("cold", 0.7, 1.0, "was not started within 1.0 s of guest time, of which firmware and loader took 0.7 s; give more --seconds"),
        ("cold", 0.0, 0.5, "was not started within 0.5 s of guest time, of which firmware and loader took 0.0 s"),
    ],
    ids=["started", "in firmware", "in the monitor", "all sleep"],
)
def test_why_a_sandbox_was_not_started(state: str, monitor: float | None, now: float, said: str) -> None:
    session = SimpleNamespace(guest_seconds=lambda: now, monitor_seconds=monitor)
    assert unstarted(cast(Session, session), cast(Watch, SimpleNamespace(state=state)), seconds=1.0) == said


def test_a_machine_in_which_all_sleep_for_good_is_not_waited_for(tmp_path: Path) -> None:
    partition = native_told(tmp_path, dict.fromkeys(("north", "east", "south", "west"), "heartbeat=0"))
    done = run("--partition", partition, "--seconds", "100000")
    assert done.returncode == Status.GOOD, done.stdout + done.stderr
    assert "no timer is set" in done.stderr


def test_a_machine_in_which_all_have_ended_is_not_waited_for(tmp_path: Path) -> None:
    names = ("north", "east", "south", "west")
    partition = native_told(tmp_path, dict.fromkeys(names, "write=0x70000000"))
    done = run("--partition", partition, "--seconds", "100000", *(f"--expect-parked={name}" for name in names))
    assert done.returncode == Status.GOOD, done.stdout + done.stderr


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_crash_is_told_in_full(platform: str, tmp_path: Path) -> None:
    """What it did, where, whose that is, and the line where the grant is missing."""
    partition = native_with(tmp_path, "south", 'bootargs = "write=0x70000000";')
    result = tmp_path / "run.json"
    done = run("--platform", platform, "--partition", partition, "--until", "ready", "--json", result)
    assert done.returncode == Status.FAILED
    assert "parked: write" in done.stdout
    assert "0x70000000" in done.stdout
    assert "changed.dts:" in done.stdout
    south = next(one for one in json.loads(result.read_text())["sandboxes"] if one["name"] == "south")
    assert south["state"] == "parked"
    assert (south["crash"]["reason"], south["crash"]["access"], south["crash"]["address"]) == ("memory", "write", 0x70000000)
    assert f", in {south['crash']['place']['function']} (" in done.stdout
    assert "  called from run_write (kernel/core/commands.c:" in done.stdout
    assert south["crash"]["callers"][0]["function"] == "run_write"


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ((), Status.FAILED),
        (("--expect-parked", "south"), Status.GOOD),
        (("--expect-parked", "south", "--expect-parked", "west"), Status.FAILED),
        (("--expect-parked", "nobody"), Status.USAGE),
    ],
)
def test_a_parked_sandbox_fails_a_timed_run_unless_expected(tmp_path: Path, options: tuple[str, ...], status: Status) -> None:
    partition = native_with(tmp_path, "south", 'bootargs = "write=0x70000000";')
    assert run("--partition", partition, "--seconds", "1", *options).returncode == status


@pytest.mark.parametrize(
    ("sandbox", "status"), [("east", Status.GOOD), ("south", Status.FAILED), ("nobody", Status.USAGE)], ids=["beats", "silent", "unknown"]
)
def test_who_has_to_be_punctual_beats(tmp_path: Path, sandbox: str, status: Status) -> None:
    partition = native_with(tmp_path, "south", 'bootargs = "heartbeat=0";')
    done = run("--partition", partition, "--seconds", "1", "--expect-punctual", sandbox)
    assert done.returncode == status, done.stderr


@pytest.mark.parametrize(("vcpu", "status"), [("loop", Status.GOOD), ("hog", Status.FAILED)], ids=["runs", "unknown"])
def test_what_vcpus_had_is_shown_and_judged(tmp_path: Path, vcpu: str, status: Status) -> None:
    partition, result = native_with(tmp_path, "south", 'bootargs = "vcpu=200,1000,loop";'), tmp_path / "run.json"
    done = run("--partition", partition, "--seconds", "1", "--time", "exact", "--expect-punctual", f"south/{vcpu}", "--json", result)
    assert done.returncode == status, done.stdout + done.stderr
    assert "VCPUs" in done.stdout
    found = {one["name"]: one["vcpus"] for one in json.loads(result.read_text())["sandboxes"]}
    assert [one["name"] for one in found["south"]] == ["loop", "main"]
    assert found["south"][0]["program"]["rounds"] > 0
    assert found["north"] == []


@pytest.mark.parametrize(
    ("bootargs", "asked", "said"),
    [
        ("", "north/loop", "`north` has no VCPU `loop`; there are none"),
        ("", "south/lop", "`south` has no VCPU `lop` (did you mean `loop`?); there are `loop`, `main`"),
        ("vcpu=100,1000,hog", "south/hgo", "should have been punctual: its sandbox has no such VCPU"),
        ("start=hog", "south/hgo", "should have been punctual: its sandbox has no such VCPU"),
        ("core=1,vcpu=100,1000,hog", "south/hgo", "should have been punctual: its sandbox has no such VCPU"),
    ],
)
def test_a_vcpu_that_there_will_not_be_is_refused_before_the_start(tmp_path: Path, bootargs: str, asked: str, said: str) -> None:
    """Words of `bootargs` may make more than the partition file has; then it is known afterwards."""
    file = tmp_path / "changed.dts"
    file.write_text(f'{NATIVE.read_text()}\n&south {{ bootargs = "{bootargs}"; loop {{ budget-us = <200>; period-us = <1000>; }}; }};\n')
    done = run("--partition", file, "--seconds", "0.5", "--expect-punctual", asked)
    assert said in " ".join(done.stderr.split())
    assert done.returncode == (Status.FAILED if bootargs else Status.USAGE)
    assert ("guest time" in done.stdout) == bool(bootargs), "a machine ran"


@pytest.mark.parametrize("options", [("--seconds", "nan"), ("--limit", "inf"), ("--json", "/nowhere/result.json")])
def test_what_cannot_be_is_refused_before_the_machine_starts(options: tuple[str, str]) -> None:
    done = run(*options)
    assert done.returncode == Status.USAGE
    assert "starting" not in done.stderr


LATE = "should have been punctual: 1 of 9 beats came late by a period or more"


@pytest.mark.parametrize(("beats", "gaps", "why"), [(9, 0, ""), (9, 1, LATE), (0, 0, "should have been punctual: never beat")])
def test_a_late_beat_fails_who_has_to_be_punctual(beats: int, gaps: int, why: str) -> None:
    beating = SimpleNamespace(plan=SimpleNamespace(name="control"), heartbeat=Heartbeat(beats, 1000000, gaps, 0), harmed=False, ready=True)
    assert failure(cast(Watch, beating), Expected((), ("control",), ready=True)) == why


def test_a_late_beat_that_the_table_explains_is_counted_and_said() -> None:
    """The table shows 0 and so many turns."""
    beat = Heartbeat(1000, 1_000_000, 113, 25_000_000, 0)
    beating = SimpleNamespace(plan=SimpleNamespace(name="control"), heartbeat=beat, harmed=False, ready=True)
    expected, late = Expected((), ("control",), ready=True), "113 of 1,000 beats came late by a period or more"
    assert failure(cast(Watch, beating), expected, tells=False) == f"should have been punctual: {late}"
    assert failure(cast(Watch, beating), expected, tells=True) == (
        f"should have been punctual: {late}, turns of the emulator included (--expect-punctual counts them)"
    )


@pytest.mark.parametrize("platform", ["qemu-aarch64", "qemu-armv7"])
def test_crashes_and_restarts_beside_a_loop_and_linux(platform: str, tmp_path: Path) -> None:
    """docs/benchmarks.md has ten minutes of it."""
    result = tmp_path / "run.json"
    done = run("--platform", platform, "--partition", RESTART, "--seconds", "12", "--expect-punctual", "control", "--json", result)
    assert done.returncode == Status.GOOD, done.stdout + done.stderr
    found = {one["name"]: one for one in json.loads(result.read_text())["sandboxes"]}
    assert found["mortal"]["restarts"] >= 8


def test_a_limit_that_is_reached_is_status_4(tmp_path: Path) -> None:
    partition = native_with(tmp_path, "west", 'bootargs = "heartbeat=0";')
    done = run("--partition", partition, "--seconds", "100000", "--limit", "2")
    assert done.returncode == Status.TIME_LIMIT
    assert "time limit" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_emulator_ends_with_the_command(number: signal.Signals) -> None:
    environment = {"PYTHONPATH": str(paths.ROOT / "tools"), "PATH": "/usr/bin:/bin"}
    command = [*COMMAND, "--partition", str(NATIVE), "--seconds", "100000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as tool:
        assert tool.stdout is not None
        assert any("is ready" in line for line in tool.stdout)
        [emulator] = Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split()
        tool.send_signal(number)
        tool.stdout.read()
    for _ in range(100):
        if not Path(f"/proc/{emulator}/cmdline").exists():
            break
        time.sleep(0.1)
    else:
        pytest.fail(f"the emulator, process {emulator}, goes on")


def test_an_interrupted_run_still_ends_with_its_table() -> None:
    environment = {"PYTHONPATH": str(paths.ROOT / "tools"), "PATH": "/usr/bin:/bin"}
    command = [*COMMAND, "--partition", str(NATIVE), "--seconds", "100000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as tool:
        assert tool.stdout is not None
        assert any("is ready" in line for line in tool.stdout)
        tool.send_signal(signal.SIGINT)
        rest = tool.stdout.read()
    assert tool.returncode == Status.INTERRUPTED
    assert "guest time" in rest


def test_a_refused_partition_is_named_with_file_and_line(tmp_path: Path) -> None:
    partition = native_with(tmp_path, "west", "no-such-property;")
    done = run("--partition", partition)
    assert done.returncode == Status.FAILED
    assert "changed.dts:" in done.stderr
    assert "no-such-property" in done.stderr


def test_an_attached_console_takes_input_and_lets_go(tmp_path: Path) -> None:
    """And what all sandboxes say meanwhile is in the log."""
    log = tmp_path / "run.log"
    command = [*COMMAND[1:], "--partition", str(NATIVE), "--attach", "north", "--log", str(log)]
    environment = {"PYTHONPATH": str(paths.ROOT / "tools"), "PATH": "/usr/bin:/bin", "TERM": "dumb"}
    child = pexpect.spawn(sys.executable, command, timeout=LIMIT, encoding="utf-8", env=environment)
    child.expect("north: alive")
    child.sendline("ticks=50")
    child.expect("ticks 50")
    child.send("\x1d")
    child.expect("guest time")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == Status.GOOD
    for line in ("north │ alive", "north │ is ready", "north │ ticks 50", "south │ is ready"):
        assert line in log.read_text()


def test_a_reader_that_has_seen_enough_ends_the_run_quietly() -> None:
    environment = {"PYTHONPATH": str(paths.ROOT / "tools"), "PATH": "/usr/bin:/bin"}
    command = [*COMMAND, "--partition", str(NATIVE), "--seconds", "100000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as tool:
        assert tool.stdout is not None
        assert tool.stderr is not None
        assert any("is ready" in line for line in tool.stdout)
        tool.stdout.close()
        said = tool.stderr.read()
    assert tool.returncode == Status.FAILED
    assert "pipe" not in said.lower()


@pytest.mark.parametrize(
    ("name", "why"), [("south", "takes no input"), ("nroth", "has no sandbox `nroth` (did you mean `north`?); there are `north`,")]
)
def test_a_console_that_cannot_be_attached_is_refused(name: str, why: str) -> None:
    done = run("--partition", NATIVE, "--attach", name)
    assert done.returncode == Status.USAGE
    assert why in done.stderr


def test_says_what_a_sandbox_does_without(tmp_path: Path) -> None:
    file = native_with(tmp_path, "south", 'unprotected = "memory", "ipi";')
    result = tmp_path / "run.json"
    done = run("--partition", file, "--until", "ready", "--json", result)
    assert done.returncode == Status.GOOD, done.stderr
    warned = [f"BH-W090: `south` does without `{one}` protection: " in done.stderr for one in ("memory", "ipi")]
    assert all(warned), done.stderr
    assert [one["rule"] for one in json.loads(result.read_text())["warnings"]] == ["BH-W090", "BH-W090"]
