# SPDX-License-Identifier: Apache-2.0
"""BH-F4.trace. What VCPUs had, as `run` tells it: from what the sandbox kernel keeps (abi/trace.h), of which nothing is believed that cannot be."""

import struct
from collections.abc import Callable
from typing import Any

import pytest
from bhtool.trace.given import Given, Run, given_json, given_table, read_given
from bhtool.trace.rings import ffi, lib
from bhtool.verbs.run import Expected, missed_text
from rich.console import Console

HZ = 62_500_000  # 16 ns
STATE, NAME, HAD, RAN, CHARGED = 0x1000, 0x9000, 0xA000, 0xB000, 0xC000
LOOP = Given("engine", 5, "loop", 16_000, 160_000, 15_984_000, 1_600_000, 16, Run(100, 2, 800, 1_600))


def memory(change: Callable[[Any], None] = lambda _: None, charged: int = 1_000_000) -> dict[int, bytes]:
    state = ffi.new("struct bh_trace *")
    state.magic, state.version, state.clock_hz, state.vcpu_count = lib.BH_TRACE_MAGIC, lib.BH_TRACE_VERSION, HZ, 1
    state.core[1].charged = CHARGED
    row = state.vcpu[1]
    row.name, row.budget, row.period, row.made, row.had, row.run, row.slot = NAME, 1000, 10_000, 1000, HAD, RAN, 1
    change(state)
    return {
        STATE: bytes(ffi.buffer(state)),
        NAME: b"loop\0",
        HAD: struct.pack("<QQ", 100_000, 1),
        RAN: struct.pack("<QQQQ", 100, 2, 50, 100),
        CHARGED: struct.pack("<Q", charged),
    }


def read(held: dict[int, bytes]) -> list[Given]:
    return read_given(lambda at, size: held[at][:size] if at in held and len(held[at]) >= size else None, STATE, "engine", [4, 5])


def test_what_a_vcpu_had_is_told() -> None:
    assert read(memory()) == [LOOP]
    (told,) = given_json([LOOP])["engine"]
    assert (told["foreground_ns"], told["program"]) == (1_600_000, {"rounds": 100, "missed": 2, "latest_ns": 800, "done_ns": 1_600})
    console = Console(width=200)
    with console.capture() as shown:
        console.print(given_table([LOOP]))
    assert "10.0%" in shown.get()
    assert next(line.split()[-2:] for line in shown.get().splitlines() if "engine" in line) == ["1", "2"]


def test_a_program_that_tells_nothing_is_no_reason_to_leave_its_vcpu_out() -> None:
    (one,) = read(memory(lambda state: setattr(state.vcpu[1], "run", 0)))
    assert one.run is None
    assert given_json([one])["engine"][0]["program"] is None


@pytest.mark.parametrize(
    ("field", "value"),
    [("had", 0), ("had", 0x77), ("slot", 2), ("slot", 0), ("slot", 0xFFFFFFFF), ("made", 2_000_000), ("period", 0), ("budget", 10_001)],
)
def test_what_cannot_be_is_left_out(field: str, value: int) -> None:
    """Of a core without VCPUs, of no core; made after now; no budget that there is; an account that is not its RAM."""
    assert read(memory(lambda state: setattr(state.vcpu[1], field, value))) == []


@pytest.mark.parametrize(("field", "value"), [("magic", 0), ("version", 1), ("clock_hz", 0), ("clock_hz", 1 << 60)])
def test_a_form_that_is_not_known_is_nothing(field: str, value: int) -> None:
    assert read(memory(lambda state: setattr(state, field, value))) == []


def test_a_clock_of_no_machine_is_nothing() -> None:
    assert read(memory(charged=1 << 63)) == []


def ran(elapsed_ms: int, rounds: int, missed: int = 0, done_us: int = 9) -> Given:
    """Of a period of 1 ms."""
    return Given("engine", 5, "loop", 1, 1_000_000, elapsed_ms * 1_000_000, 1, 1, Run(rounds, missed, 5, done_us * 1_000))


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (ran(100, 99), ""),
        (ran(100, 101), ""),
        (ran(100, 98), ""),
        (ran(100, 97), "began 97 of 100 periods"),
        (ran(100, 102), "its program keeps no periods, with 102 rounds in 100 of them"),
        (ran(10_000, 1), "began 1 of 10,000 periods"),
        (ran(100, 97, 2), "missed 2 periods"),
        (ran(100, 0), "its program began no period"),
        (ran(100, 99, 0, 1_000), ""),
        (ran(100, 99, 0, 1_001), "a round was done 1,001 us after its period of 1,000 us began"),
    ],
)
def test_who_has_to_be_punctual_begins_each_period(one: Given, why: str) -> None:
    """Also who was stopped, or hangs, and counts nothing any more."""
    assert missed_text(one) == (why and f"should have been punctual: {why}")


def test_all_vcpus_of_a_name_have_to_be_punctual() -> None:
    expected = Expected((), ("engine/loop", "engine", "engine/hog"), ready=True)
    assert expected.vcpu_failures([ran(100, 97), ran(100, 99)]) == {
        "engine/loop": "should have been punctual: began 97 of 100 periods",
        "engine/hog": "should have been punctual: its sandbox has no such VCPU",
    }
