# SPDX-License-Identifier: Apache-2.0
"""What README and docs tell people to type is what the command takes, and every file that it names is there, or made by what stands above it."""

from itertools import pairwise
from pathlib import Path

import click
import pytest
from bhtool import paths
from bhtool.cli import loaded
from bhtool.config.compile import survey_partition
from bhtool.overlay.forms import FORMS
from bhtool.platforms import load
from bhtool.verbs import VERBS
from bhtool.verbs.options import Output

from tests.tool.documented import DOCUMENTS, Block, blocks_of, mentions_of

GUIDES = paths.ROOT / "docs" / "guides"
STANDS_FOR = {"P": "qemu-aarch64", "NAME": "timer", "N": "1", "VERB": "run"}
ITSELF = ("--help", "--version", "-h")
SCRIPT = "-Wl,-T,"
SOURCES = (".c", ".h", ".ld", ".dts", ".dtsi", ".toml")
GOES_ON_FROM = {  # the guide whose files it uses
    "debug-a-sandbox.md": "write-a-c-guest.md",
    "channels-from-zephyr.md": "run-zephyr-or-freertos.md",
}


def named(document: Path) -> str:
    return str(document.relative_to(paths.ROOT))


def parsed(words: list[str]) -> click.Context:
    """The verb's arguments, as the command would take them. Raises what the command would say."""
    verb, *arguments = [
        "P" if before == "--platform" and word == "NAME" else word for before, word in pairwise(("", *words)) if word != "--yes"
    ]
    if verb not in VERBS:
        raise click.UsageError(f"there is no verb {verb}")
    return loaded(verb).make_context(verb, [STANDS_FOR.get(word, word) for word in arguments])


def is_good(words: list[str], may_lack_arguments: bool) -> bool:
    if set(words) & set(ITSELF):
        return words[0] in VERBS or words[0] in ITSELF
    try:
        parsed(words)
    except click.MissingParameter:
        return may_lack_arguments
    except click.UsageError:
        return False
    return True


def bulkhead_words(block: Block) -> list[list[str]]:
    return [words[1:] for words in block.commands() if words[0] in ("tools/bulkhead", "bulkhead")]


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_commands_are_the_tools(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dist").mkdir()
    wrong = [(block.line, words) for block in blocks_of(document) for words in bulkhead_words(block) if not is_good(words, False)]
    assert wrong == []
    spoken = [text.replace("[", "").replace("]", "").split("...")[0].split() for text in mentions_of(document)]
    assert [words for words in spoken if words and not is_good(words, True)] == []


def inputs(context: click.Context) -> list[str]:
    """Files that the verb reads."""
    return [
        str(context.params[one.name])
        for one in context.command.params
        if isinstance(one.type, click.Path) and not isinstance(one.type, Output) and one.name and context.params[one.name]
        if (context.info_name, one.name) not in (("new", "folder"), ("sdk", "output"), ("package", "output"))
    ]


def made_by(words: list[str]) -> list[str]:
    """Files that a command leaves behind."""
    program, *rest = words
    if program in ("cp", "install"):
        return [rest[-1]]
    if "-o" in rest and program != "tools/bulkhead":
        return [rest[rest.index("-o") + 1]]
    if program != "tools/bulkhead":
        return []
    context = parsed(rest)
    match context.info_name:
        case "new":
            files = (
                ("partition.dts", "hello.c", "Makefile", "sdk/include/bulkhead/bulkhead.h")
                if context.params["template"] == "guest"
                else ("partition.dts",)
            )
            return [f"{context.params['folder']}/{file}" for file in files]
        case "sdk":
            return [f"{context.params['output']}/example/{file}" for file in ("hello.dts", "channel.dts", "Makefile")]
        case "overlay":
            return [context.params["sandbox"] + suffix for suffix in FORMS[context.params["kernel"]].suffixes]
    return []


def needed_by(words: list[str]) -> list[str]:
    program, *rest = words
    if program == "tools/bulkhead":
        return inputs(parsed(rest)) if not set(rest) & set(ITSELF) else []
    if program == "make":
        return [f"{folder}/Makefile" for option, folder in pairwise(rest) if option == "-C"]
    read = [word.removeprefix(SCRIPT) for word in (rest[:-1] if program == "cp" else rest)]
    return [word for word in read if word.endswith(SOURCES) and not word.startswith("-")]


def left_by(document: Path) -> set[str]:
    """What has been made when all of a document has been typed; fails where a line needs what is not there."""
    made = left_by(GUIDES / GOES_ON_FROM[document.name]) if document.name in GOES_ON_FROM else set()
    for block in blocks_of(document):
        made |= {block.names} - {""}
        for words in block.commands():
            missing = [file for file in needed_by(words) if file not in made and not (paths.ROOT / file).exists()]
            assert not missing, f"{named(document)}:{block.line}: {' '.join(words)}: nothing has made {missing}"
            made |= set(made_by(words))
    return made


@pytest.mark.parametrize("document", [one for one in DOCUMENTS if one.parent == GUIDES or one.name == "guest.md"], ids=named)
def test_files_are_there(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "cd" not in [words[0] for block in blocks_of(document) for words in block.commands()], "tools/bulkhead is here"
    left_by(document)


PARTITIONS = [
    pytest.param(document, block, id=f"{named(document)}:{block.line}")
    for document in DOCUMENTS
    for block in blocks_of(document)
    if block.text.startswith("/dts-v1/")
]


@pytest.mark.parametrize(("document", "block"), PARTITIONS)
def test_partition_files_are_valid(document: Path, block: Block, tmp_path: Path) -> None:
    """But for images, which the page has the reader make."""
    assert block.names, f"{named(document)}:{block.line}: the paragraph above does not say what the file is called"
    file = tmp_path / Path(block.names).name
    file.write_text(block.text, encoding="utf-8")
    plan, _ = survey_partition(file, load("qemu-aarch64"))
    assert (plan.errors, plan.warnings) == ([], [])


def test_every_guide_is_in_the_readme() -> None:
    readme = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    assert [guide.name for guide in GUIDES.glob("*.md") if f"docs/guides/{guide.name}" not in readme] == []
