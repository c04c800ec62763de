# SPDX-License-Identifier: Apache-2.0
"""From a fresh clone to the command: prepare what the verb needs, then become `python -m bhtool` in build/venv."""

import os
import re
import sys
from typing import NoReturn

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.provision import bochs
from bhtool.provision.debian import ensure_packages
from bhtool.provision.needs import BUILD_NEEDS, CHECK_NEEDS, DEBUG_NEEDS, RUN_NEEDS, TEST_NEEDS, VENV_NEEDS, Need
from bhtool.provision.progress import OneLine
from bhtool.provision.venv import SIZE, ensure_venv, shown_venv, venv_ready
from bhtool.system_errors import UNFORESEEN, as_refusal
from bhtool.text import visible_lines
from bhtool.verbs import COMPLETE, LIGHT_VERBS, SOURCE_VERBS, VERBS
from bhtool.versions import version_text

WORK_NEEDS = RUN_NEEDS if paths.IS_PACKAGE else BUILD_NEEDS
SETUP_NEEDS = VENV_NEEDS + WORK_NEEDS + (DEBUG_NEEDS if paths.IS_PACKAGE else TEST_NEEDS)
SETUP_OPTIONS = ("--yes", "--dry-run")


def verb_of(arguments: list[str]) -> str:
    """The first word that is no option: what stands before it takes no value. Empty if there is none."""
    return next((word for word in arguments if not word.startswith("-")), "")


def wants_only_python(arguments: list[str]) -> bool:
    """For help, for what needs neither compiler nor emulator, and for a verb there is not, which is refused later."""
    verb = verb_of(arguments)
    is_light = verb in LIGHT_VERBS and "guest" not in arguments  # `new` builds the SDK for that template
    return "--help" in arguments or "-h" in arguments or is_light or verb not in VERBS


def wants_only_check(arguments: list[str]) -> bool:
    """To judge a file where nothing is built, no compiler of the monitor and no emulator is needed."""
    is_built = any(paths.BUILD.glob("*/build.ninja"))
    return verb_of(arguments) == "check" and "--build" not in arguments and not is_built


def wants_help(arguments: list[str]) -> bool:
    return not arguments or "--help" in arguments or "-h" in arguments


def kept_help(arguments: list[str]) -> str:
    """The verb's part of docs/commands.md, or that of the whole; it is what click would say."""
    verb = next((word for word in arguments if word in VERBS), "")
    text = paths.COMMANDS.read_text(encoding="utf-8")
    found = re.search(rf"^## tools/bulkhead{verb and ' '}{verb}\n\n```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = found[1].rstrip().splitlines() if found else ["docs/commands.md has the help"]
    return paths.named("\n".join(line for line in lines if verb or not (paths.IS_PACKAGE and lists_source_verb(line))))


def lists_source_verb(line: str) -> bool:
    """Of the list of verbs, with what each does."""
    return line.startswith("  ") and line.split()[:1] in [[one] for one in SOURCE_VERBS]


def wants_bochs(arguments: list[str]) -> bool:
    """Who names a platform of Bochs, and who runs them all."""
    if any(word.startswith("--platform") for word in arguments):
        return any(word.removeprefix("--platform=").startswith("bochs-") for word in arguments)
    return verb_of(arguments) in ("test", "bench")


def needs_besides(arguments: list[str]) -> tuple[Need, ...]:
    """What one verb alone wants."""
    return {"debug": DEBUG_NEEDS, "test": TEST_NEEDS}.get(verb_of(arguments), ())


def build_bochs() -> None:
    report = OneLine()
    bochs.ensure_bochs(report)
    report.end()


def refuse_source_verbs(arguments: list[str]) -> None:
    """What works on the sources is not in a package."""
    verb = verb_of(arguments)
    if paths.IS_PACKAGE and verb in SOURCE_VERBS:
        raise BulkheadError(f"`{verb}` works on the sources, which this package does not have: use a clone", Status.USAGE)


def setup(arguments: list[str]) -> None:
    unknown = [word for word in arguments if word not in SETUP_OPTIONS]
    if unknown:
        raise BulkheadError(f"setup knows only {' and '.join(SETUP_OPTIONS)}, not {unknown[0]}", Status.USAGE)
    dry_run = "--dry-run" in arguments
    ensure_packages(SETUP_NEEDS, "--yes" in arguments, dry_run)
    if dry_run:
        print("Python environment: " + ("ready" if venv_ready() else f"would be made in {shown_venv()}, {SIZE}"))
        print(f"Bochs {bochs.VERSION}: " + (f"would be built, {bochs.EFFORT}" if bochs.lacking() else "ready"))
    else:
        ensure_venv()
        build_bochs()
        print("Everything is set up.")


def prepare(arguments: list[str], yes: bool) -> None:
    if wants_only_python(arguments):
        ensure_packages(VENV_NEEDS, yes)
    elif wants_only_check(arguments):
        ensure_packages(VENV_NEEDS + CHECK_NEEDS, yes)
    else:
        ensure_packages(VENV_NEEDS + WORK_NEEDS, yes)
        if besides := needs_besides(arguments):
            ensure_packages(besides, yes)
        if wants_bochs(arguments):
            build_bochs()
    ensure_venv()


def tool_environment() -> dict[str, str]:
    """Whoever wants no compiled Python beside sources gets none: it goes to build/, so that the hundreds of processes of a test run share it."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": str(paths.ROOT / "tools"), "PYTHONPYCACHEPREFIX": str(paths.BUILD / "pycache")}


def become_tool(arguments: list[str]) -> NoReturn:
    """-P: `-m` alone would look for every module in the folder that the user stands in first, which may hold anything."""
    python = str(paths.VENV / "bin" / "python")
    os.execve(python, [python, "-P", "-m", "bhtool", *arguments], tool_environment())


def refuse(error: BulkheadError) -> NoReturn:
    print(f"bulkhead: {paths.named(visible_lines(str(error)))}", file=sys.stderr)
    sys.exit(error.status)


def launch(arguments: list[str]) -> NoReturn:
    """Never returns: ends with the exit status of the contract (errors.Status)."""
    try:
        if arguments == ["--version"]:
            print(version_text())
            sys.exit(Status.GOOD)
        refuse_source_verbs(arguments)
        if COMPLETE in os.environ:
            become_tool(arguments) if venv_ready() else sys.exit(Status.GOOD)
        if wants_help(arguments) and not venv_ready():
            print(kept_help(arguments))
            sys.exit(Status.GOOD)
        if verb_of(arguments) == "setup" and not wants_help(arguments):
            setup([word for word in arguments if word != "setup"])
            sys.exit(Status.GOOD)
        prepare(arguments, "--yes" in arguments)
        become_tool([word for word in arguments if word != "--yes"])
    except BulkheadError as error:
        refuse(error)
    except UNFORESEEN as error:
        refuse(as_refusal(error))
    except KeyboardInterrupt:
        sys.exit(130)
