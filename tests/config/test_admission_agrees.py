# SPDX-License-Identifier: Apache-2.0
"""BH-F4.scheduler. What `check` says of a partition file's VCPUs is what the sandbox kernel does when it starts with them: all are made, or not all.

The kernel's own files run on the host, over the information page that the tool makes (vcpus_started.c). Random VCPUs, with budgets up to what makes a
core just full, and beyond; and doorbells, which interrupt the first core as often as they may be rung.
"""

import _ctypes
import ctypes
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from bhtool.config.channels import DOORBELL, Channel
from bhtool.config.compile import survey_partition
from bhtool.config.domains import Domains
from bhtool.config.doorbells import rings_of
from bhtool.config.grants import _channel_grants, _vcpu, _vcpu_grant
from bhtool.config.machine import Costs
from bhtool.config.plan import SandboxPlan
from bhtool.config.rules import BY_ID, judge_meaning
from bhtool.config.table import make_info
from bhtool.config.tree import Node, Property
from bhtool.config.vcpus import Vcpu
from bhtool.paths import ROOT
from bhtool.platforms import load
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.config.conftest import COSTS as TOLD

GOOD = Path(__file__).parent / "broken" / "good.dtsi"
FILE = f"""#include "{GOOD}"
&two {{ cores = <&cpu1>, <&cpu3>; access = <&uart1>; }};
/delete-node/ &linux;
/delete-node/ &linux_ram;
&domains {{ idle-cores = <&cpu2>; }};
"""
KERNEL = (
    "core/vcpus",
    "core/admit",
    "core/clock",
    "core/text",
    *(f"sched/{name}" for name in ("admission", "sched", "sporadic", "pibs", "ranks")),
)
MORE = ("sched/deadlines", "sched/heap")
LOADED = {"BH-R149", "BH-R146", "BH-R143"}  # what the load of a core, a share or a rate breaks, or a budget below a switch
UNTOLD = Costs()
EXACT_HZ = 1_000_000_000  # a tick is a nanosecond, as in the tool


@dataclass(frozen=True)
class Drawn:
    """A VCPU's properties. `rate` of a Main VCPU: None."""

    period: int
    amount: int  # budget or percentage
    on_second: bool = False
    rate: int | None = None

    def vcpu(self, n: int, uart: Node, core: Node) -> Vcpu:
        numbers = {"period-us": self.period, ("budget-us" if self.rate is None else "utilization-percent"): self.amount}
        if self.rate:
            numbers["max-rate-hz"] = self.rate
        if self.rate is not None:
            numbers["serves"] = uart.phandle
        properties = {name: Property(name, struct.pack(">I", value)) for name, value in numbers.items()}
        node = Node(f"/domains/two/v{n}", properties=properties)
        return Vcpu(node, () if self.rate is None else (uart,), (core,) if self.on_second else ())


@dataclass(frozen=True)
class Bell:
    """How often each end of a channel may ring the other, in a second; `two` is rung by its first."""

    rings: int
    is_rung: int = 0

    def channel(self, n: int, one: Node, two: Node) -> Channel:
        cells = struct.pack(">II", self.rings, self.is_rung)
        return Channel(Node(f"/domains/bell{n}", properties={DOORBELL: Property(DOORBELL, cells)}), n, (one,), (two,))


PERIODS = st.sampled_from((50, 100, 250, 997, 1_000, 1_500, 2_000, 4_999, 5_000, 20_000, 99_999, 100_000, 100_001, 1_000_000))
# Half of them with round shares, where a core is just full, or is not for what switches take.
MAIN = st.builds(
    lambda period, percent, less, second: Drawn(period, min(period, max(1, period * percent // 100 - less)), second),
    PERIODS,
    st.sampled_from((1, 5, 10, 20, 25, 30, 40, 50, 75)) | st.integers(1, 60),
    st.integers(0, 4),
    st.booleans(),
)
RATES = st.sampled_from((0, 0, 10, 2_000, 3_000, 20_000, 66_666, 66_667, 300_000, 500_000, 500_001, 1_000_000_000))
IO = st.builds(lambda period, percent, rate: Drawn(period, percent, False, rate), PERIODS, st.integers(1, 60) | st.just(100), RATES)
SETS = st.builds(lambda mains, io: [*mains, *io], st.lists(MAIN, min_size=0, max_size=6), st.lists(IO, max_size=1))
COSTS = st.sampled_from((TOLD, UNTOLD))
BELLS = st.lists(
    st.builds(Bell, st.sampled_from((1, 999, 1_000, 3_000, 7_001, 10_000, 25_000, 50_000, 60_000)), st.sampled_from((0, 0, 60_000))),
    max_size=3,
)


class Started:
    """The kernel's library. It is loaded anew for each page, as a core's kernel starts once."""

    def __init__(self, library: Path) -> None:
        self.library = library
        self.count = 0

    def made(self, page: bytes, hz: int) -> list[int]:
        """On each core, how many VCPUs the kernel has made of the page."""
        self.count += 1
        copy = self.library.with_name(f"{self.count}.so")  # one that is loaded already would not be loaded anew
        shutil.copy(self.library, copy)
        loaded = ctypes.CDLL(str(copy))
        loaded.started.argtypes = (ctypes.c_char_p, ctypes.c_uint, ctypes.c_uint64)
        made = [int(loaded.started(page, slot, hz)) for slot in range(2)]
        _ctypes.dlclose(loaded._handle)
        copy.unlink()
        return made


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Started:
    library = tmp_path_factory.mktemp("started") / "vcpus.so"
    unit = ROOT / "tests" / "unit"
    sources = [
        *(ROOT / "kernel" / f"{name}.c" for name in (*KERNEL, *MORE)),
        Path(__file__).with_name("vcpus_started.c"),
        unit / "fake_cpu.c",
    ]
    options = ["-std=c17", "-O1", "-w", "-D_GNU_SOURCE", "-shared", "-fPIC", f"-I{ROOT}", f"-I{unit}", f"-I{unit / 'fake'}"]
    subprocess.run(["clang-19", *options, *map(str, sources), "-o", str(library)], check=True)
    return Started(library)


Judge = Callable[[list[Drawn], Costs, list[Bell]], tuple[set[str], bytes]]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """With these VCPUs in `two`: the rules that are broken, warnings aside, and the information page."""
    file = tmp_path_factory.mktemp("good") / "f.dts"
    file.write_text(FILE)
    plan, domains = survey_partition(file, load("qemu-aarch64"))
    assert domains, plan.errors
    two = domains.sandboxes[1]
    (uart,) = (device.node for device in two.devices if device.is_uart)

    def judge_them(drawn: list[Drawn], costs: Costs, bells: list[Bell]) -> tuple[set[str], bytes]:
        sandbox = replace(two, vcpus=[one.vcpu(n, uart, two.cores[1].node) for n, one in enumerate(drawn)])
        machine = replace(domains.machine, costs=costs)
        changed: Domains = replace(domains, machine=machine, sandboxes=[domains.sandboxes[0], sandbox])
        changed.channels = [one.channel(n, domains.sandboxes[0].node, two.node) for n, one in enumerate(bells)]
        assert len(rings_of(changed, sandbox).of) == len(bells)
        grants = [*(_vcpu_grant(_vcpu(sandbox, one)) for one in sandbox.vcpus), *_channel_grants(changed, sandbox)]
        page = make_info(plan.sandboxes[1], grants, costs)
        return {one.rule for one in judge_meaning(changed) if not BY_ID[one.rule].is_warning}, page

    assert isinstance(plan.sandboxes[1], SandboxPlan)
    return judge_them


def on_each_core(drawn: list[Drawn]) -> list[int]:
    return [sum(one.on_second == second for one in drawn) for second in (False, True)]


SEEN: Counter[str] = Counter()


def agree_on(judge: Judge, started: Started, drawn: list[Drawn], costs: Costs, bells: list[Bell]) -> bool:
    """Whether it is admitted, by both."""
    rules, page = judge(drawn, costs, bells)
    assert rules <= LOADED, rules
    all_made = started.made(page, EXACT_HZ) == on_each_core(drawn)
    assert all_made == (not rules), (drawn, costs, bells, rules)
    return all_made


@settings(max_examples=400, deadline=None, derandomize=True, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(SETS, COSTS, BELLS)
def agree(judge: Judge, started: Started, drawn: list[Drawn], costs: Costs, bells: list[Bell]) -> None:
    SEEN["admitted" if agree_on(judge, started, drawn, costs, bells) else "refused"] += 1


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(st.lists(MAIN, min_size=1, max_size=2), COSTS, BELLS)
def agree_on_doorbells(judge: Judge, started: Started, drawn: list[Drawn], costs: Costs, bells: list[Bell]) -> None:
    if bells and not agree_on(judge, started, drawn, costs, bells):
        SEEN["refused for doorbells"] += agree_on(judge, started, drawn, costs, [])


def test_check_and_kernel_agree(judge: Judge, started: Started) -> None:
    """Where a tick is a nanosecond, always."""
    agree(judge, started)
    assert min(SEEN["refused"], SEEN["admitted"]) > 100, SEEN


def test_check_and_kernel_agree_on_doorbells(judge: Judge, started: Started) -> None:
    """Where there is room for VCPUs, these decide."""
    agree_on_doorbells(judge, started)
    assert SEEN["refused for doorbells"] > 10, SEEN


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(SETS, COSTS, BELLS, st.sampled_from((62_500_000, 24_000_000, 2_400_012_345)))
def agree_with_room(judge: Judge, started: Started, drawn: list[Drawn], costs: Costs, bells: list[Bell], hz: int) -> None:
    """Budgets of 1 us more and periods of 1 us less, and a fiftieth more interrupts: what is admitted with these is, with any clock, whatever is rounded to its ticks."""
    tight = [
        replace(
            one,
            period=one.period - 1,
            amount=min(one.amount + 1, one.period - 1 if one.rate is None else 100),
            rate=one.rate and one.rate + one.rate // 50,
        )
        for one in drawn
    ]
    often = [Bell(one.rings + one.rings // 50, one.is_rung) for one in bells]
    rules, page = judge(drawn, costs, bells)
    assume(not rules & {"BH-R143", "BH-R146"})  # below a switch, which a little more was not
    if not judge(tight, costs, often)[0]:
        assert started.made(page, hz) == on_each_core(drawn), (drawn, costs, bells, hz)


def test_clocks_of_other_rates_round_by_little(judge: Judge, started: Started) -> None:
    agree_with_room(judge, started)


def test_a_core_that_is_just_full(judge: Judge, started: Started) -> None:
    """10 and 100 of their budgets, 5 switches, and 101 heartbeats on the first core, leave `main` 20,000 of 100,000 us; one more us, 10 times, is too much
    for both of them."""
    for second, most in ((False, 2_843), (True, 2_995)):
        for budget, admitted in ((most, True), (most + 1, False)):
            drawn = [Drawn(1_000, 500, second), Drawn(10_000, budget, second)]
            rules, page = judge(drawn, TOLD, [])
            assert rules == (set() if admitted else {"BH-R149"})
            made = 2 if admitted else 1
            assert started.made(page, EXACT_HZ) == ([0, made] if second else [made, 0])


@pytest.mark.parametrize(("rate", "admitted"), [(2_000, True), (52_000, False)])
def test_lines_count_as_often_as_they_interrupt(judge: Judge, started: Started, rate: int, admitted: bool) -> None:
    """52,000 top halves of 15 us leave 22 percent of a core, of which heartbeats take 1.5; the main program has 20."""
    rules, page = judge([Drawn(100_000, 1, rate=rate)], TOLD, [])
    assert rules == (set() if admitted else {"BH-R149"})
    assert started.made(page, EXACT_HZ) == [int(admitted), 0]


@pytest.mark.parametrize(("second", "rates", "admitted"), [(False, [52_000], True), (False, [53_000], False), (False, [27_000, 27_000], False),
                                                         (True, [60_000], True)])  # fmt: skip
def test_doorbells_count_as_often_as_they_may_ring(judge: Judge, started: Started, second: bool, rates: list[int], admitted: bool) -> None:
    """As lines do, if nobody serves them: of a core 100 heartbeats take 0.15 percent, 20 has the main program, and one VCPU next to nothing. And on the
    first core alone."""
    rules, page = judge([Drawn(100_000, 20, second)], TOLD, [Bell(rate) for rate in rates])
    assert rules == (set() if admitted else {"BH-R149"})
    made = int(admitted)
    assert started.made(page, EXACT_HZ) == ([0, made] if second else [made, 0])


def test_who_rings_pays_for_rings_that_are_made_again(judge: Judge, started: Started) -> None:
    """Each is a call in the time of who rings; but one that came too soon is made by a timer, on nobody's, as often as a ring is granted."""
    for own_hz, broken, made in ((1_000, set(), [1, 0]), (66_000, {"BH-R149"}, [0, 0])):
        rules, page = judge([Drawn(1_000, 700)], TOLD, [Bell(1, own_hz)])
        assert rules == broken
        assert started.made(page, EXACT_HZ) == made
