# SPDX-License-Identifier: Apache-2.0
"""One row of the table of emulated cases, in the source tree this file lies in: `python -m tests.mutation.one_case PLATFORM CASE`.

Without arguments it reads such pairs, a line each, and gives each a process of its own, forked so that nothing is imported again; after what
that one says stands ENDED and its status.

ORACLE instead of a case: the table oracle judges dts/partitions/native.dts. CAMPAIGN: hostile sandboxes attack, until something gets through;
CARDS: their network cards do.
The name of a refusal: start-up gets that damaged table. LENT_LINE: one that gives the line of FERR# away. FOREIGN: guests that do as other kernels do.
LOADED: GRUB brings the boot module of dts/partitions/native.dts from a disc. A case of open_board.py: on the board made there.

Ends with status 0 if the case passes and CASE_FAILS if it fails, having said why. Anything else: it could not be tried.
"""

import dataclasses
import functools
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from bhtool import paths
from bhtool.attack.campaign import run_campaign
from bhtool.attack.kind import BY_CARDS, BY_PROCESSORS, Kind
from bhtool.config.form import load_schemas
from bhtool.image.build import build_platform
from bhtool.image.formats import pack
from bhtool.machine.launch import Timing
from bhtool.oracle.capture import capture, look_of
from bhtool.oracle.judge import judge as judge_tables
from bhtool.oracle.policy import places_of, read_partitioning
from bhtool.platforms import Platform, load

from tests.emulated import open_board
from tests.emulated.case import Case
from tests.emulated.lent_line import lend
from tests.emulated.observe import judge, observe
from tests.emulated.scene import compile_file, monitor, silent, stage, stage_file
from tests.emulated.shown import LIMIT_BEATS, has_passed, note_passed
from tests.emulated.table import CASES
from tests.emulated.test_foreign import OF_THE_BOARD, wrong_with
from tests.emulated.test_refusals import REFUSALS, Refusal, damaged, last_words

ORACLE, CAMPAIGN, CARDS, LENT_LINE, FOREIGN, LOADED = "oracle", "campaign", "cards", "lent-line", "foreign", "loaded"
ATTEMPTS, OF_CARDS = 1000, 600
CASE_FAILS = 10
LIMIT_SECONDS = 60.0  # of the host, for a machine in which nobody beats
CHILD_SECONDS = 180
ENDED = "status of one case: "
REFUSAL_SECONDS = 5.0
LOADED_SECONDS = 20.0  # GRUB waits for nobody


def find(platform: str, name: str) -> Case:
    (case,) = (one for one in CASES if one.name == name and platform in one.platforms)
    return dataclasses.replace(case, limit_beats=case.limit_beats if case.concurrent else LIMIT_BEATS, limit_seconds=LIMIT_SECONDS)


def try_case(platform: Platform, case: Case) -> tuple[list[str], str]:
    """What went wrong, and how everybody stood."""
    scene = stage(platform, case)
    if has_passed(platform, case, scene):
        return [], "has passed on this image"
    seen = observe(platform, case, scene)
    wrong = judge(case, seen)
    if not wrong:
        note_passed(platform, case, scene, seen)
    return wrong, seen.state()


def ask_oracle(platform: Platform) -> list[str]:
    file = paths.PARTITIONS / "native.dts"
    scene = stage_file(platform, file)
    snapshot = capture(platform, scene.plan, scene.image, LIMIT_SECONDS, silent)
    partitioning = read_partitioning(file, platform, places_of(scene.plan))
    return [str(one) for one in judge_tables(snapshot, partitioning, look_of(platform).read).findings]


def attack(platform: Platform, kind: Kind = BY_PROCESSORS, attempts: int = ATTEMPTS) -> list[str]:
    timing = Timing(platform.emulator.icount_shift)
    build_platform(platform, silent)
    result = run_campaign(platform, timing, 1, attempts, silent, lambda *_: None, until_escape=True, kind=kind)
    return [str(one) for one in result.escapes]


def run_foreign(platform: Platform) -> list[str]:
    build_platform(platform, silent)
    with tempfile.TemporaryDirectory() as folder:
        of_the_board = wrong_with(platform, Path(folder), OF_THE_BOARD) if platform.arch == "aarch64" else []
        return of_the_board + wrong_with(platform, Path(folder))


def load_from_disc(platform: Platform) -> list[str]:
    build_platform(platform, silent)
    disc = pack("iso", platform, monitor(platform), compile_file(platform, paths.PARTITIONS / "native.dts"))
    said, status = last_words(platform, disc, "cdrom", limit=LOADED_SECONDS)
    return [] if status is None else [f"the machine ended: {said!r}"]


def open_case(_: Platform, name: str) -> list[str]:
    return open_board.wrong_with(open_board.BY_NAME[name], LIMIT_SECONDS)


def boot_damaged(platform: Platform, refusal: Refusal) -> list[str]:
    said, _ = last_words(platform, damaged(platform, refusal), limit=REFUSAL_SECONDS)
    return [] if refusal.says in said else [f"not refused: {said!r}"]


def try_one(name: str, what: str) -> int:
    """The status to end with."""
    platform = load(name)
    refusals = {one.name: functools.partial(boot_damaged, refusal=one) for one in REFUSALS}
    by_cards = functools.partial(attack, kind=BY_CARDS, attempts=OF_CARDS)
    alone: dict[str, Callable[[Platform], list[str]]] = {ORACLE: ask_oracle, CAMPAIGN: attack, CARDS: by_cards, LENT_LINE: lend}
    alone |= {FOREIGN: run_foreign, LOADED: load_from_disc, **refusals}
    alone |= {one: functools.partial(open_case, name=one) for one in open_board.BY_NAME}
    wrong, state = (alone[what](platform), "") if what in alone else try_case(platform, find(platform.name, what))
    print("\n".join([*wrong, state]))
    return CASE_FAILS if wrong else 0


def in_a_child(request: list[str]) -> int:
    """The exit status of a process that tries one; negative: the signal that ended it."""
    child = os.fork()
    if child == 0:
        signal.alarm(CHILD_SECONDS)
        status = 1
        try:
            status = try_one(*request)
        except Exception:
            traceback.print_exc(file=sys.stdout)
        finally:
            sys.stdout.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> int:
    if len(sys.argv) > 1:
        return try_one(*sys.argv[1:])
    load_schemas()
    for line in sys.stdin:
        print(f"{ENDED}{in_a_child(line.split())}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
