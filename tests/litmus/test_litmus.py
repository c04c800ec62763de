# SPDX-License-Identifier: Apache-2.0
"""BH-F6.messages. The order of memory at the ends of a channel, by herd7: litmus tests of what the shipping code reads and writes, under the models of Arm and of RC11.

accesses.c runs that code and prints each access. A test has two such records as its threads, of which it keeps the words that it is about: what is left out could only forbid more. So could the
branches between accesses, which are left out, too. Each order of memory in turn is weakened in a copy of the shipping headers: one of the models must then allow what must not be.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool.errors import BulkheadError
from bhtool.paths import ROOT
from bhtool.provision.herd import HERD

from tests.emulated.scene import silent
from tests.mutation.mutation import Mutation
from tests.touched import inputs

LIMIT_SECONDS = 120
KINDS, ENDS, WAIT, TELL = "abi/channel_inline.h", "abi/channel_end.h", "abi/channel_wait.h", "monitor/tell.h"
HEADERS = [KINDS, ENDS, WAIT, TELL, "abi/channel.h", "abi/channel_bytes.h", "abi/guest.h"]
PROGRAM = "tests/litmus/accesses.c"
# What clang makes of C's orders for AArch64: test_the_compiler_makes_these_instructions.
LOADS = {"relaxed": "LDR", "acquire": "LDAR", "seq_cst": "LDAR"}
STORES = {"relaxed": "STR", "release": "STLR", "seq_cst": "STLR"}
FENCES = {"acquire": "DMB ISHLD", "release": "DMB ISH", "seq_cst": "DMB ISH"}


@dataclass(frozen=True)
class Access:
    what: str
    order: str
    name: str
    value: int


Records = dict[str, list[Access]]


@dataclass(frozen=True)
class Scene:
    """`never`, of loads `THREAD:NAME:n`, the n-th of that word in the thread; negative: from the end."""

    name: str
    threads: tuple[tuple[str, ...], tuple[str, ...]]
    words: dict[str, int]  # with their values before
    never: str


SCENES = (
    Scene("a message comes whole", (("ring-send",), ("ring-receive",)), {"sent0": 0, "data0_0": 3}, "1:sent0:0=1 /\\ 1:data0_0:0=3"),
    Scene("a message comes with its number", (("ring-send",), ("ring-receive",)), {"sent0": 0, "head0_2": 9}, "1:sent0:0=1 /\\ 1:head0_2:0=9"),
    Scene("a slot is read before it is filled again", (("ring-receive",), ("ring-send-again",)), {"taken1": 0, "data0_0": 7}, "1:taken1:0=1 /\\ 0:data0_0:0=8"),
    Scene("a letter comes whole", (("mail-send",), ("mail-receive",)), {"sent0": 0, "data0_0": 3}, "1:sent0:0=1 /\\ 1:data0_0:0=3"),
    Scene("a letter is read before the next", (("mail-receive",), ("mail-send-again",)), {"taken1": 0, "data0_0": 7}, "1:taken1:0=1 /\\ 0:data0_0:0=8"),
    Scene("who goes has sent all", (("send-and-go",), ("ring-gone",)), {"sent0": 0, "state0": 1}, "1:state0:0=2 /\\ 1:sent0:-1=0"),
    Scene("a new life's counters are clear", (("begin",), ("meet",)), {"peer0": 9, "sent0": 3}, "1:peer0:0=1 /\\ 1:sent0:0=3"),
    Scene("no life speaks for the next", (("end-of-life",), ("meet",)), {"life0": 1, "epoch0": 1, "peer0": 9}, "1:life0:1=2 /\\ 1:epoch0:0=2 /\\ 1:peer0:0=9"),
    Scene("an older life is unsaid", (("begin",), ("meet",)), {"epoch0": 1, "peer0": 9}, "1:epoch0:0=2 /\\ 1:peer0:0=9"),
    Scene("what a life has cleared is its own", (("end-of-life", "begin"), ("ring-empty",)), {"life0": 1, "sent0": 3}, "1:sent0:0=0 /\\ 1:life0:0=1"),
    Scene("a value is whole", (("write",), ("read",)), {"slot1_0": 0, "data3_0": 4}, "1:slot1_0:0=3 /\\ 1:data3_0:0=4"),
    Scene("the latest pair has its newest slot", (("write",), ("read",)), {"latest0": 0, "slot1_0": 0}, "1:latest0:0=1 /\\ 1:slot1_0:0=0"),
    Scene("a value that is counted is found", (("write",), ("read",)), {"sent0": 0, "latest0": 0}, "1:sent0:0=1 /\\ 1:latest0:0=0"),
    Scene("a value that is read is not written", (("write-twice",), ("read",)), {"reading0_1": 0, "slot1_0": 3, "data3_0": 5}, "0:reading0_1:1=0 /\\ 1:slot1_0:0=3 /\\ 1:data3_0:0=7"),
    Scene("a value is read before it is written over", (("read", "read-elsewhere"), ("write-twice",)), {"reading0_1": 1, "data3_0": 5}, "1:reading0_1:1=0 /\\ 0:data3_0:0=7"),
    Scene("who sleeps until it is rung has seen what was sent, or is rung", (("send-and-ring",), ("asks-to-be-rung",)), {"sent0": 0, "waits1": 0}, "0:waits1:0=0 /\\ 1:sent0:0=0"),
    Scene("who sleeps until there is room has seen it, or is rung", (("receive-and-ring",), ("asks-for-room",)), {"taken1": 0, "waits0": 0}, "0:waits0:0=0 /\\ 1:taken1:0=0"),
    Scene("who reads a new life's value finds that life", (("life-that-writes",), ("read-of-two",)), {"life0": 1, "data3_0": 5}, "1:data3_0:0=7 /\\ 1:life0:-1=1"),
)  # fmt: skip


def weaker(scene: int, what: str, file: str, old: str, to: str) -> tuple[Scene, Mutation]:
    order = re.findall(r"__ATOMIC_\w+", old)[-1]
    return SCENES[scene], Mutation(what, file, old, f"__ATOMIC_{to}".join(old.rsplit(order, 1)), "")


COUNT = "__atomic_store_n(own_counter, count, __ATOMIC_RELEASE)"
MAIL = "end->sent++; __atomic_store_n(&end->own->sent, end->sent, __ATOMIC_RELEASE)"
MISTAKES = (
    weaker(0, "a ring's counter is not released", KINDS, COUNT, "RELAXED"),
    weaker(1, "a ring's counter is not acquired", KINDS, "sent = __atomic_load_n(counter, __ATOMIC_ACQUIRE)", "RELAXED"),
    weaker(2, "a ring's slot is not released", KINDS, COUNT, "RELAXED"),
    weaker(2, "a ring's slot is not acquired", ENDS, "__atomic_load_n(&end->peer->taken, __ATOMIC_ACQUIRE)", "RELAXED"),
    weaker(3, "a letter is not acquired", ENDS, "__atomic_load_n(&end->peer->sent, __ATOMIC_ACQUIRE)", "RELAXED"),
    weaker(4, "a letter's slot is not released", ENDS, "__atomic_store_n(&end->own->taken, end->taken, __ATOMIC_RELEASE)", "RELAXED"),
    weaker(4, "a letter's slot is not acquired", ENDS, "__atomic_load_n(&end->peer->taken, __ATOMIC_ACQUIRE)", "RELAXED"),
    weaker(5, "a state is not released", TELL, "__atomic_store_n(&end->seen->state, state, __ATOMIC_RELEASE)", "RELAXED"),
    weaker(5, "a state is not acquired", ENDS, "__atomic_load_n(&end->peer_life->state, __ATOMIC_ACQUIRE)", "RELAXED"),
    weaker(6, "what it says is not released", ENDS, "__atomic_store_n(&control->peer, peer, __ATOMIC_RELEASE)", "RELAXED"),
    weaker(6, "what it says is not acquired", ENDS, "__atomic_load_n(&end->peer->peer, __ATOMIC_ACQUIRE)", "RELAXED"),
    weaker(7, "an epoch is not released", TELL, "__atomic_store_n(&end->seen->epoch, end->seen->epoch + 1, __ATOMIC_RELEASE)", "RELAXED"),
    weaker(7, "an epoch is not acquired", ENDS, "__atomic_load_n(&end->peer_life->epoch, __ATOMIC_ACQUIRE)", "RELAXED"),
    weaker(8, "its life is not released", ENDS, "__atomic_store_n(&control->epoch, own, __ATOMIC_RELEASE)", "RELAXED"),
    weaker(8, "its life is not acquired", ENDS, "__atomic_load_n(&end->peer->epoch, __ATOMIC_ACQUIRE)", "RELAXED"),
    weaker(9, "clearing is not released", ENDS, "__atomic_store_n(&control->sent, 0, __ATOMIC_RELEASE)", "RELAXED"),
    weaker(9, "a cleared counter is not acquired", KINDS, "sent = __atomic_load_n(counter, __ATOMIC_ACQUIRE)", "RELAXED"),
    weaker(10, "a value is not released", KINDS, "__atomic_store_n(&own->slot[pair], word, __ATOMIC_SEQ_CST)", "RELAXED"),
    weaker(10, "a value is not acquired", KINDS, "__atomic_load_n(&peer->slot[pair], __ATOMIC_SEQ_CST)", "RELAXED"),
    weaker(11, "a pair is not released", KINDS, "__atomic_store_n(&own->latest, pair, __ATOMIC_SEQ_CST)", "RELAXED"),
    weaker(11, "a pair is not acquired", KINDS, "__atomic_load_n(&peer->latest, __ATOMIC_SEQ_CST)", "RELAXED"),
    weaker(12, "a value's counter is not acquired", KINDS, "first = __atomic_load_n(&peer->sent, __ATOMIC_ACQUIRE)", "RELAXED"),
    weaker(13, "the newest slot is stored late", KINDS, "__atomic_store_n(&own->slot[pair], word, __ATOMIC_SEQ_CST)", "RELEASE"),
    weaker(13, "the newest slot is looked for early", KINDS, "__atomic_load_n(&peer->slot[pair], __ATOMIC_SEQ_CST)", "ACQUIRE"),
    weaker(13, "the pair is said late", KINDS, "__atomic_store_n(end->reading, pair, __ATOMIC_SEQ_CST)", "RELEASE"),
    weaker(13, "who reads is looked for early", KINDS, "__atomic_load_n(&end->peer->reading[0], __ATOMIC_SEQ_CST)", "ACQUIRE"),
    weaker(14, "who reads is not acquired", KINDS, "__atomic_load_n(&end->peer->reading[0], __ATOMIC_SEQ_CST)", "RELAXED"),
    *(
        (SCENES[scene], Mutation(f"no fence {what}, {where}", WAIT, old, new, ""))
        for scene, where in ((15, "and a message"), (16, "and room"))
        for what, old, new in (
            ("after what waits", "if (wants) __atomic_thread_fence(__ATOMIC_SEQ_CST);", ""),
            ("before who waits is looked for", "__atomic_thread_fence(__ATOMIC_SEQ_CST); return", "return"),
        )
    ),
    (SCENES[17], Mutation("no fence before a life's values", ENDS, "__atomic_thread_fence(__ATOMIC_RELEASE);", "", "")),
    (SCENES[17], Mutation("no fence after a value", KINDS, "__atomic_thread_fence(__ATOMIC_ACQUIRE); result = bh_end_look(end); if (result != BH_END_OK) return result; first--;", "result = bh_end_look(end); if (result != BH_END_OK) return result; first--;", "")),
)  # fmt: skip
MARKS = inputs([*HEADERS, PROGRAM], [__file__])
pytestmark = pytest.mark.long


@pytest.fixture(scope="module", autouse=True)
def _herd() -> None:
    try:
        HERD.ensure(silent)
    except BulkheadError as missing:
        pytest.skip(str(missing))


def records_of(folder: Path) -> Records:
    """As the code does them whose headers are in `folder`, or else the shipping ones."""
    program = str(folder / "accesses")
    paths = [f"-I{folder}", "-I.", "-Itests/unit", "-Itests/unit/fake"]
    subprocess.run(["clang-19", "-std=c11", "-O1", "-w", "-D_GNU_SOURCE", *paths, PROGRAM, "-o", program], cwd=ROOT, check=True)
    said = subprocess.run([program], capture_output=True, text=True, timeout=LIMIT_SECONDS, check=True).stdout
    records: Records = {}
    for line in said.splitlines():
        words = line.split()
        if words[0] == "record":
            records[words[1]] = []
        else:
            records[list(records)[-1]].append(Access(words[0], words[1], words[2], int(words[3])))
    return records


def kept(scene: Scene, records: Records) -> list[list[Access]]:
    """A relaxed load that the condition does not look at orders nothing."""

    def matters(thread: int, one: Access) -> bool:
        if one.what == "load" and one.order == "relaxed":
            return f"{thread}:{one.name}:" in scene.never
        return one.what == "fence" or one.name in scene.words

    return [[one for name in names for one in records[name] if matters(n, one)] for n, names in enumerate(scene.threads)]


def condition(scene: Scene, threads: list[list[Access]], register: str) -> str:
    """Loads of a thread go to registers 0, 1, ..., in their order."""

    def place(found: re.Match[str]) -> str:
        loads = [one.name for one in threads[int(found[1])] if one.what == "load"]
        return f"{found[1]}:{register}{[n for n, name in enumerate(loads) if name == found[2]][int(found[3])]}"

    return re.sub(r"(\d):(\w+):(-?\d+)", place, scene.never)


def in_c(scene: Scene, threads: list[list[Access]]) -> str:
    words = ", ".join(f"volatile atomic_int* {name}" for name in scene.words)
    text = f"C it\n{{ {' '.join(f'{name}={value};' for name, value in scene.words.items())} }}\n"
    for n, thread in enumerate(threads):
        lines, loads = [], 0
        for one in thread:
            order = f"memory_order_{one.order}"
            if one.what == "load":
                lines.append(f"int r{loads} = atomic_load_explicit({one.name}, {order});")
                loads += 1
            else:
                lines.append(
                    f"atomic_thread_fence({order});" if one.what == "fence" else f"atomic_store_explicit({one.name}, {one.value}, {order});"
                )
        text += f"P{n} ({words}) {{\n  " + "\n  ".join(lines) + "\n}\n"
    return text + f"exists ({condition(scene, threads, 'r')})\n"


def in_aarch64(scene: Scene, threads: list[list[Access]]) -> str:
    address = {name: f"X{20 + n}" for n, name in enumerate(scene.words)}
    before = [f"{name}={value};" for name, value in scene.words.items()]
    before += [f"{n}:{register}={name};" for n in range(len(threads)) for name, register in address.items()]
    columns: list[list[str]] = []
    for thread in threads:
        lines: list[str] = []
        loads = 0
        for one in thread:
            if one.what == "load":
                lines.append(f"{LOADS[one.order]} W{loads},[{address[one.name]}]")
                loads += 1
            elif one.what == "fence":
                lines.append(FENCES[one.order])
            else:
                lines += [f"MOV W19,#{one.value}", f"{STORES[one.order]} W19,[{address[one.name]}]"]
        assert loads < 19
        columns.append(lines)
    rows = [[column[n] if n < len(column) else "" for column in columns] for n in range(max(map(len, columns)))]
    code = "\n".join(f" {' | '.join(row)} ;" for row in [["P0", "P1"], *rows])
    return f"AArch64 it\n{{ {' '.join(before)} }}\n{code}\nexists ({condition(scene, threads, 'X')})\n"


def allowed(text: str, folder: Path, *options: str) -> bool:
    file = folder / "it.litmus"
    file.write_text(text)
    library = [] if shutil.which("herd7") else ["-set-libdir", str(HERD.place() / "usr/share/herdtools7/herd")]
    done = subprocess.run(
        [*HERD.command("herd7"), *library, *options, str(file)], capture_output=True, text=True, timeout=LIMIT_SECONDS, check=True
    )
    said = re.search(r"^Observation it (\w+)", done.stdout, re.MULTILINE)
    assert said, text + done.stdout + done.stderr
    return said[1] != "Never"


def verdicts(scene: Scene, folder: Path) -> dict[str, bool]:
    """By model, whether it allows what must never be."""
    threads = kept(scene, records_of(folder))
    return {"RC11": allowed(in_c(scene, threads), folder, "-model", "rc11.cat"), "AArch64": allowed(in_aarch64(scene, threads), folder)}


@pytest.mark.parametrize("scene", [pytest.param(one, id=one.name, marks=MARKS) for one in SCENES])
def test_it_is_so_in_all_orders(scene: Scene, tmp_path: Path) -> None:
    assert verdicts(scene, tmp_path) == {"RC11": False, "AArch64": False}


@pytest.mark.parametrize(("scene", "mistake"), [pytest.param(*one, id=one[1].what, marks=MARKS) for one in MISTAKES])
def test_a_weaker_order_is_noticed(scene: Scene, mistake: Mutation, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "abi", tmp_path / "abi")
    (tmp_path / "monitor").mkdir()
    shutil.copy(ROOT / TELL, tmp_path / TELL)
    (tmp_path / mistake.file).write_text(mistake.text())
    assert any(verdicts(scene, tmp_path).values())


@pytest.mark.parametrize("scene", [pytest.param(one, id=one.name, marks=MARKS) for one in SCENES])
def test_without_any_order_it_is_allowed(scene: Scene, tmp_path: Path) -> None:
    """Else the words that a scene keeps would show nothing."""
    weak = [
        [Access(one.what, "relaxed", one.name, one.value) for one in thread if one.what != "fence"]
        for thread in kept(scene, records_of(tmp_path))
    ]
    assert allowed(in_aarch64(scene, weak), tmp_path)


@pytest.mark.parametrize("what", ["load", "store", "fence"])
def test_the_compiler_makes_these_instructions(what: str, tmp_path: Path) -> None:
    table = {"load": LOADS, "store": STORES, "fence": FENCES}[what]
    call = {
        "load": "return __atomic_load_n(p, {});",
        "store": "__atomic_store_n(p, 1, {}); return 0;",
        "fence": "__atomic_thread_fence({}); return 0;",
    }[what]
    for order, expected in table.items():
        source, made = tmp_path / "one.c", tmp_path / "one.s"
        source.write_text(f"unsigned f(unsigned *p) {{ {call.format('__ATOMIC_' + order.upper())} }}\n")
        subprocess.run(["clang-19", "--target=aarch64-none-elf", "-O2", "-S", str(source), "-o", str(made)], check=True)
        found = re.findall(r"^\t((?:dmb\t\w+)|(?:ld|st)\w+)", made.read_text(), re.MULTILINE)
        assert [one.replace("\t", " ").upper() for one in found] == [expected]
