# SPDX-License-Identifier: Apache-2.0
"""BH-F6.delay, BH-I7.tool. What `check` predicts of a partition file's channels: whose VCPU an end has, what is counted, and what would meet a deadline."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config.channel_bounds import bound, request_and_reply, supply
from bhtool.config.channel_delays import BYTES_IN_A_SWITCH, ChannelCosts, costs_of
from bhtool.config.machine import Costs
from bhtool.config.plan import ChannelDelay, Plan
from bhtool.paths import PARTITIONS, ROOT
from bhtool.platforms import load
from bhtool.report.check_json import plan_json
from bhtool.verbs.check import delay_table

Compile = Callable[[Path, str], Plan]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
ANY = "qemu-aarch64"  # a switch takes 10 us, a top half 15 (COSTS)
LONGEST_S = 20
COMPATIBLE = 'compatible = "bulkhead,channel-v1"; from = <&one>; to = <&two>;'


def vcpu(budget: int, period: int, program: str = "loop", name: str = "it") -> str:
    return f'{name} {{ program = "{program}"; budget-us = <{budget}>; period-us = <{period}>; }};'


def written(folder: Path, one: str, two: str, words: str, sandboxes: str = "", name: str = "it") -> Path:
    file = folder / "f.dts"
    channel = f"&domains {{ {name} {{ {COMPATIBLE} {words} }}; }};"
    file.write_text(f'#include "{GOOD}"\n&one {{ {one} }};\n&two {{ {two} }};\n{sandboxes}\n{channel}\n')
    return file


def delay(plan: Plan) -> ChannelDelay:
    assert plan.errors == []
    (one,) = plan.channels
    return one.delay


def test_a_message_is_counted_as_a_switch_and_so_are_32_bytes() -> None:
    assert costs_of(Costs(10_000, 0)) == ChannelCosts(10_000, 10_000)
    assert [ChannelCosts(10_000, 8_000).of(size) for size in (0, 1, BYTES_IN_A_SWITCH, 64)] == [10_000, 10_250, 18_000, 26_000]


# R = 500 + 2 switches + 2 beats = 550 us at both ends; of 500 us the thread has 470, so 1,500 + 50 + 30 may pass without.
MAILBOX_BOUND = 3_700_000  # polled meanwhile: 530 of 1,740 us, so 590 are needed: 1,580 + 2,000 + 120


def test_a_mailbox_by_hand(compile_on: Compile, tmp_path: Path) -> None:
    found = delay(compile_on(written(tmp_path, vcpu(500, 2000), vcpu(500, 2000), "slot-bytes = <64>; service-us = <100>;"), ANY))
    end = supply(500_000, 2_000_000, 550_000, 30_000)
    stages = request_and_reply(lambda _: 30_000, lambda _: 30_000, 64, 64, 64, 100_000)
    assert found.bound_ns == bound((end, end), stages) == MAILBOX_BOUND
    assert found.paper_ns == 3 * 1_500_000 + 20_000 + (2 * 20_000 + 100_000) + 20_000  # 64 bytes are 20 us
    assert found.why == ()


def test_a_ring_by_hand(compile_on: Compile, tmp_path: Path) -> None:
    """30 us of a message. The sender may send as it likes, so eight may be there: 240 us."""
    found = delay(compile_on(written(tmp_path, vcpu(500, 2000), vcpu(500, 2000), 'kind = "ring"; slot-bytes = <64>;'), ANY))
    assert found.bound_ns == (1_580_000 + 30_000) + (1_580_000 + 240_000)
    assert found.paper_ns == 2 * (1_500_000 + 20_000)


def test_a_latest_value_by_hand(compile_on: Compile, tmp_path: Path) -> None:
    """The look that is going on, and the next one, 30 + 100 us each."""
    words = 'kind = "latest"; slot-bytes = <64>; service-us = <100>;'
    found = delay(compile_on(written(tmp_path, vcpu(500, 2000), vcpu(500, 2000), words), ANY))
    assert found.bound_ns == (1_580_000 + 30_000) + 2 * (1_580_000 + 130_000)


def test_programs_that_sleep_by_hand(compile_on: Compile, tmp_path: Path) -> None:
    """The kernel's own: one sends once in a period, the other looks once in a period. Of 500 us they have 450 each: 1,600 us without.

    One message: 2,000 + 1,600 + 30, sent up to 1,630 late, is 5,260, so two more may come: three take 60 us longer, in which no fourth comes.
    """
    sleeping = vcpu(500, 2000, "source"), vcpu(500, 2000, "sink")
    found = delay(compile_on(written(tmp_path, *sleeping, 'kind = "ring"; slot-bytes = <64>;'), ANY))
    assert found.bound_ns == (1_600_000 + 30_000) + 2_000_000 + (1_600_000 + 90_000)


def test_a_sender_that_overflows(compile_on: Compile, tmp_path: Path) -> None:
    """It sends more than is taken: all slots may be full, and the receiver may be in a round that it ends without the message."""
    sleeping = vcpu(100, 400, "source"), vcpu(100, 4000, "sink")
    found = delay(compile_on(written(tmp_path, *sleeping, 'kind = "ring"; slots = <2>; slot-bytes = <64>;'), ANY))
    end = supply(100_000, 4_000_000, 150_000, 50_000)
    sender = supply(100_000, 400_000, 150_000, 50_000)
    assert found.bound_ns == sender.latest(30_000) + end.latest(90_000) + 4_000_000 + end.latest(60_000)


def test_a_relay(compile_on: Compile, tmp_path: Path) -> None:
    """It sends each message on, 30 us more, on the budget of the VCPU that takes it."""
    sleeping = vcpu(500, 2000, "source"), vcpu(500, 2000, "relay")
    file = written(tmp_path, *sleeping, 'kind = "ring"; slot-bytes = <64>;')
    back = 'it-on { compatible = "bulkhead,channel-v1"; from = <&two>; to = <&linux>; kind = "ring"; slot-bytes = <64>; };'
    file.write_text(file.read_text() + f"&domains {{ {back} }};\n")
    plan = compile_on(file, ANY)
    there, on = (one.delay for one in plan.channels)
    assert there.bound_ns == (1_600_000 + 30_000) + 2_000_000 + (1_600_000 + 3 * 60_000)
    assert on.why == ("`linux` runs Linux, which schedules its cores by itself",)


def test_who_sleeps_until_it_is_rung_by_hand(compile_on: Compile, tmp_path: Path) -> None:
    """1,000 in a second at most, of which two may come in R, and two may be made again: it is 60 us longer. In a period a thread sleeps four times: of 500 us it
    has 390, and 1,720 pass without. A message is 30 us and a ring. Who is rung too soon hears of it 1,000 us later, and of any 50 us after."""
    found = delay(compile_on(written(tmp_path, vcpu(500, 2000), vcpu(500, 2000), "slot-bytes = <64>; doorbell-max-hz = <1000>;"), ANY))
    assert found.bound_ns == (1_720_000 + 40_000) + (1_720_000 + 80_000) + (1_720_000 + 40_000) + 2 * 1_050_000


def test_one_end_alone_may_sleep(compile_on: Compile, tmp_path: Path) -> None:
    """The sender rings, of which two may be made again in R, and is not rung: it polls. Of 500 us it has 470."""
    words = 'kind = "latest"; slot-bytes = <64>; doorbell-max-hz = <1000 0>;'
    found = delay(compile_on(written(tmp_path, vcpu(500, 2000), vcpu(500, 2000), words), ANY))
    assert found.bound_ns == (1_610_000 + 40_000) + 2 * (1_690_000 + 40_000) + 1_050_000


def test_of_several_readers_any_may_be_asked_for(compile_on: Compile, tmp_path: Path) -> None:
    """The first alone is rung. Others look once in a period: of 500 us they have 450."""
    words = 'kind = "latest"; readers = <2>; slot-bytes = <64>; doorbell-max-hz = <1000 0>;'
    found = delay(compile_on(written(tmp_path, vcpu(500, 2000), vcpu(500, 2000), words), ANY))
    assert found.bound_ns == (1_610_000 + 40_000) + 2 * (1_630_000 + 40_000) + 2_000_000


def test_rung_too_often(compile_on: Compile, tmp_path: Path) -> None:
    """Each time that it sleeps its budget may come back in one part more, of which there are 16."""
    for hz, why in ((6_500, False), (6_536, True)):  # 154 and 153 us
        words = f'kind = "ring"; slot-bytes = <64>; doorbell-max-hz = <{hz} 0>;'
        found = delay(compile_on(written(tmp_path, vcpu(500, 2000), vcpu(800, 2000), words), ANY))
        assert (found.bound_ns is None) is why
        said = "`two` may sleep 16 times in a period of VCPU `it`, whose budget comes back in 16 parts at most: a shorter period or fewer rings would do"
        assert found.why == ((said,) if why else ())


def test_who_is_seldom_rung_looks_all_the_same(compile_on: Compile, tmp_path: Path) -> None:
    """Each tenth of a second: in 1.1 s eleven times, besides two rings, and one more of each."""
    for period, why in ((1_100_000, False), (1_200_000, True)):
        words = 'kind = "ring"; slot-bytes = <64>; doorbell-max-hz = <1 0>;'
        found = delay(compile_on(written(tmp_path, vcpu(500, 2000), vcpu(100_000, period), words), ANY))
        assert (found.bound_ns is None) is why


def test_a_relay_rings(compile_on: Compile, tmp_path: Path) -> None:
    """One exit more, where what it sends on has a doorbell; and two rings that are made again, 30 us."""
    sleeping = vcpu(500, 2000, "source"), vcpu(500, 2000, "relay")
    file = written(tmp_path, *sleeping, 'kind = "ring"; slot-bytes = <64>;')
    back = 'it-on { compatible = "bulkhead,channel-v1"; from = <&two>; to = <&linux>; kind = "ring"; slot-bytes = <64>; doorbell-max-hz = <100 0>; };'
    file.write_text(file.read_text() + f"&domains {{ {back} }};\n")
    there, _ = (one.delay for one in compile_on(file, ANY).channels)
    assert there.bound_ns == (1_600_000 + 30_000) + 2_000_000 + (1_630_000 + 3 * 70_000)


def test_by_deadline(compile_on: Compile, tmp_path: Path) -> None:
    """R is the period: 1,500 + 1,500 + 30 without. Meanwhile the receiver takes 3,030 + 60, in which the sender may have 410, 500, 500 and 90, and 30 of
    an overrun: it needs 1,590, which is three budgets and 180."""
    edf = '&one { scheduler = "edf"; }; &two { scheduler = "edf"; };'
    found = delay(compile_on(written(tmp_path, vcpu(500, 2000), vcpu(500, 2000), "slot-bytes = <64>;", edf), ANY))
    end = supply(500_000, 2_000_000, 2_000_000, 30_000)
    assert end.blackout == 3_030_000
    assert end.most(3_090_000) == 1_530_000
    assert found.bound_ns == 3_030_000 + 3 * 2_000_000 + 180_000


@pytest.mark.parametrize(
    ("one", "two", "why"),
    [
        ("", vcpu(500, 2000), ("`one` has no VCPU that is called `it`, so on whose budget its end runs is not known",)),
        ("", "", ("`one` has no VCPU", "`two` has no VCPU")),
        (vcpu(500, 2000, name="other"), vcpu(500, 2000), ("`one` has no VCPU that is called `it`",)),
    ],
)  # fmt: skip
def test_no_bound(one: str, two: str, why: tuple[str, ...], compile_on: Compile, tmp_path: Path) -> None:
    found = delay(compile_on(written(tmp_path, one, two, ""), ANY))
    assert (found.paper_ns, found.bound_ns) == (None, None)
    assert len(found.why) == len(why)
    assert all(said in given for said, given in zip(why, found.why, strict=True))


NAMED = re.compile(r"a `period-us` of ([\d,]+) for `it` of `(\w+)`")


@pytest.mark.parametrize("deadline", [3_000, 3_400])
def test_what_would_meet_it_meets_it(deadline: int, compile_on: Compile, tmp_path: Path) -> None:
    words = f"slot-bytes = <64>; service-us = <100>; deadline-us = <{deadline}>;"
    (error,) = compile_on(written(tmp_path, vcpu(500, 2000), vcpu(500, 2000), words), ANY).errors
    assert f"has a deadline of {deadline:,} us, and takes 3,700 us in the worst case" in error.text
    found = NAMED.findall(error.text)
    assert found
    assert "both together would" not in error.text
    for said, sandbox in found:
        periods = [int(said.replace(",", "")) if name == sandbox else 2000 for name in ("one", "two")]
        plan = compile_on(written(tmp_path, vcpu(500, periods[0]), vcpu(500, periods[1]), words), ANY)
        assert plan.errors == []
        bound_ns = delay(plan).bound_ns
        assert bound_ns
        assert bound_ns <= deadline * 1000


def test_slots_that_would_meet_a_deadline_are_said(compile_on: Compile, tmp_path: Path) -> None:
    """By default they have 4,096 bytes: 1,290 us at either end, in budgets of 170. What is said is enough, and twice as much is not."""
    pair = vcpu(200, 1000, "source"), vcpu(200, 1000, "sink")

    def errors(words: str) -> list[str]:
        plan = compile_on(written(tmp_path, *pair, f'kind = "ring"; deadline-us = <5000>; {words}'), ANY)
        return [one.text for one in plan.errors if one.rule == "BH-R169"]

    (text,) = errors("")
    found = re.search(r"; a `slot-bytes` of ([\d,]+) instead of 4,096 would meet it", text)
    assert found, text
    size = int(found[1].replace(",", ""))
    assert not errors(f"slot-bytes = <{size}>;")
    assert errors(f"slot-bytes = <{2 * size}>;")
    (text,) = errors("slot-bytes = <64>; service-us = <4900>;")
    assert "slot-bytes" not in text


TOGETHER = "no shorter period of one end alone would meet it; both together would, a `period-us` of "


@pytest.mark.parametrize("deadline", [1_200, 1_600, 2_000])
def test_what_both_together_would_meet(deadline: int, compile_on: Compile, tmp_path: Path) -> None:
    """And nothing less than that does."""
    words = f"slot-bytes = <64>; service-us = <100>; deadline-us = <{deadline}>;"
    (error,) = compile_on(written(tmp_path, vcpu(500, 2000), vcpu(500, 2000), words), ANY).errors
    assert TOGETHER in error.text
    (first, second) = (int(said.replace(",", "")) for said, _ in NAMED.findall(error.text))
    assert [sandbox for _, sandbox in NAMED.findall(error.text)] == ["one", "two"]
    for periods, expected in (((first, second), []), ((first, 2000), ["BH-R169"]), ((2000, second), ["BH-R169"])):
        plan = compile_on(written(tmp_path, vcpu(500, periods[0]), vcpu(500, periods[1]), words), ANY)
        assert [one.rule for one in plan.errors] == expected


def test_what_nothing_would_meet(compile_on: Compile, tmp_path: Path) -> None:
    """The work of both is 220 us; the least that was found is said, and is there for what is 1 us above it."""
    words = "slot-bytes = <64>; service-us = <100>; deadline-us = <{}>;"
    both = vcpu(500, 2000), vcpu(500, 2000)
    (error,) = compile_on(written(tmp_path, *both, words.format(230)), ANY).errors
    found = re.search(r"would meet it, and none of both with the budgets they have: ([\d,]+) us is the least that was found", error.text)
    assert found, error.text
    least = int(found[1].replace(",", ""))
    for deadline, is_met in ((least - 1, False), (least, True)):
        (error,) = compile_on(written(tmp_path, *both, words.format(deadline)), ANY).errors
        assert (TOGETHER in error.text) is is_met


def test_a_large_ring_takes_no_long_search(compile_on: Compile, tmp_path: Path) -> None:
    """Whose slots are counted one by one, at ends that sleep and have far to go to a period that is their budget."""
    words = 'kind = "ring"; slots = <1024>; slot-bytes = <64>; deadline-us = <40000>;'
    file = written(tmp_path, vcpu(200, 1_000_000, "source"), vcpu(200, 1_000_000, "sink"), words)
    begins = time.process_time()
    (error,) = compile_on(file, ANY).errors
    assert error.rule == "BH-R169"
    assert time.process_time() - begins < LONGEST_S


@pytest.mark.parametrize(
    ("kind", "program"), [("ring", ('program = "source"; ', 'program = "sink"; ')), ("latest", ('program = "source"; ', 'program = "sink"; ')), ("mailbox", ("", ""))]
)  # fmt: skip
def test_who_is_missing_is_said_with_what_to_add(kind: str, program: tuple[str, str], compile_on: Compile, tmp_path: Path) -> None:
    words = f'kind = "{kind}"; deadline-us = <5000>;'
    (error,) = compile_on(written(tmp_path, "", "", words), ANY).errors
    for side, sandbox in enumerate(("one", "two")):
        assert f"add `it {{ {program[side]}budget-us = <...>; period-us = <...>; }};` to `{sandbox}`" in error.text
    (error,) = compile_on(written(tmp_path, "", vcpu(500, 2000), words), ANY).errors
    assert "to `one`; docs" in error.text
    assert "to `two`" not in error.text


def test_of_a_kernel_of_another_no_program_is_known(compile_on: Compile, tmp_path: Path) -> None:
    sandboxes = '&one { image = "large.elf"; };'
    (error,) = compile_on(written(tmp_path, "", vcpu(500, 2000), 'kind = "ring"; deadline-us = <5000>;', sandboxes), ANY).errors
    assert "add `it { budget-us = <...>; period-us = <...>; };` to `one`; docs" in error.text


def test_a_name_that_is_near_is_said(compile_on: Compile, tmp_path: Path) -> None:
    one, two = vcpu(500, 2000, name="sampels"), vcpu(500, 2000, name="other")
    (error,) = compile_on(written(tmp_path, one, two, "deadline-us = <5000>;", name="samples"), ANY).errors
    assert (
        "`one` has no VCPU that is called `samples` (did you mean `sampels`?), so on whose budget its end runs is not known" in error.text
    )
    assert "`two` has no VCPU that is called `samples`, so" in error.text


def test_beside_linux_nothing_is_to_be_added(compile_on: Compile, tmp_path: Path) -> None:
    file = written(tmp_path, "", "", "deadline-us = <5000>;")
    file.write_text(file.read_text().replace("to = <&two>", "to = <&linux>"))
    (error,) = compile_on(file, ANY).errors
    assert error.rule == "BH-R169"
    assert "add `" not in error.text


OTHERS = [
    ("R011", "a-name-of-more-than-31-characters", 'kind = "latest";', ""),
    ("R163", "it", "slots = <8>;", ""),
    ("R165", "it", 'kind = "ring"; slots = <1024>; slot-bytes = <65536>;', ""),
    ("R180", "it", 'kind = "latest"; readers = <9>;', ""),
    ("R181", "it", "on-request;", '&two { unprotected = "memory"; };'),
]


@pytest.mark.parametrize(("rule", "name", "words", "sandboxes"), OTHERS)
def test_a_channel_with_another_mistake_is_not_judged(
    rule: str, name: str, words: str, sandboxes: str, compile_on: Compile, tmp_path: Path
) -> None:
    """Another channel is, but where none can be."""
    file = written(tmp_path, "", "", f"{words} deadline-us = <5000>;", sandboxes, name)
    assert [one.rule for one in compile_on(file, ANY).errors] == [f"BH-{rule}"]
    file.write_text(file.read_text() + f"&domains {{ late {{ {COMPATIBLE} deadline-us = <5000>; }}; }};\n")
    told = {one.rule for one in compile_on(file, ANY).errors}
    assert told == ({f"BH-{rule}"} if rule == "R163" else {f"BH-{rule}", "BH-R169"})


def test_a_deadline_is_met_to_the_microsecond(compile_on: Compile, tmp_path: Path) -> None:
    for deadline, expected in ((3_700, []), (3_699, ["BH-R169"])):
        words = f"slot-bytes = <64>; service-us = <100>; deadline-us = <{deadline}>;"
        plan = compile_on(written(tmp_path, vcpu(500, 2000), vcpu(500, 2000), words), ANY)
        assert [one.rule for one in plan.errors] == expected


MAILBOX_TERMS = [
    "`one` has C = 500 us, T = 2,000 us, R = 550 us, U = 470 us",
    "`two` has C = 500 us, T = 2,000 us, R = 550 us, U = 470 us",
    "a message takes 30 us at either end and K = 100 us",
]


def test_json_has_it(compile_on: Compile, tmp_path: Path) -> None:
    words = "slot-bytes = <64>; service-us = <100>; deadline-us = <4000>;"
    plan = compile_on(written(tmp_path, vcpu(500, 2000), vcpu(500, 2000), words), ANY)
    (channel,) = plan_json(plan, load(ANY))["channels"]
    assert channel["delay"] == {
        "deadline_us": 4000,
        "service_us": 100,
        "paper_ns": 4_680_000,
        "bound_ns": MAILBOX_BOUND,
        "no_bound": [],
        "terms": MAILBOX_TERMS,
    }
    (channel,) = plan_json(compile_on(written(tmp_path, "", vcpu(500, 2000), ""), ANY), load(ANY))["channels"]
    assert channel["delay"]["deadline_us"] is channel["delay"]["paper_ns"] is channel["delay"]["bound_ns"] is None
    assert channel["delay"]["no_bound"]


def test_the_example(compile_as_shipped: Compile) -> None:
    """Samples are predicted, and what Linux has a part in is not."""
    delays = {one.name: one.delay for one in compile_as_shipped(PARTITIONS / "channels.dts", ANY).channels}
    assert [name for name, one in delays.items() if one.bound_ns is not None] == ["samples"]
    assert delays["speed"].why == ("`linux` runs Linux, which schedules its cores by itself",)
    assert not delays["speed"].terms
    assert f"    {'; '.join(delays['samples'].terms)}\n" in (ROOT / "docs" / "channel-bounds.md").read_text(encoding="utf-8")


def test_the_table_says_each_reason_once_and_its_letters(compile_on: Compile) -> None:
    caption = str(delay_table(compile_on(PARTITIONS / "channels.dts", "qemu-aarch64")).caption).splitlines()
    linux = [line for line in caption if "runs Linux" in line]
    assert len(linux) == 1
    assert linux[0].endswith(
        ": samples-on, speed, orders, sensor-telemetry, control-telemetry, sensor-says, sensor-hears, control-says, control-hears"
    )
    assert len(caption) == len(set(caption))
    letters = next(line for line in caption if line.startswith("C: budget"))
    terms = next(line for line in caption if line.startswith("samples: "))
    used = set(re.findall(r"\b([A-Zn]) = ", terms))
    assert used
    assert all(f"{letter}: " in letters for letter in used)
