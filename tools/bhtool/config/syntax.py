# SPDX-License-Identifier: Apache-2.0
"""What was most likely meant where the device tree compiler says `syntax error` and no more: it stops at the first token that cannot follow."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bhtool.config.plan import Location
from bhtool.text import did_you_mean

UNKNOWN = "this is no device tree syntax"
DIRECTIVES = ("include", "define", "undef", "ifdef", "ifndef", "if", "elif", "else", "endif", "error", "warning", "pragma")
SIZES = {"KiB": 10, "MiB": 20, "GiB": 30}
_MACRO = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*\(")
_WORD = re.compile(r"[A-Za-z_][\w.-]*")
_DIRECTIVE = re.compile(r"#\s*(?P<name>[a-z]\w*)")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_VALUE = re.compile(r"=.*[>\"\]]$", re.DOTALL)  # the statement is whole
_CAPITALS = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")  # how board trees name what they define
_TOKEN = re.compile(r"[\w.&@-]+|[!-~]")
_DIGITS = re.compile(r"\b\d+$")
_HEAD = re.compile(r"(?P<label>[A-Za-z_]\w*:\s*)?[\w,.+-]+(?P<unit>@[\w,.]+)?")  # of a node, or a property without a value
_SHIFT = re.compile(r"<<|>>")  # of an expression, no brackets


@dataclass(frozen=True)
class Stop:
    """Where the compiler stopped: the source up to there, line by line, and the rest of that line."""

    before: list[tuple[Location, str]]  # with what precedes the token on its own line as the last
    rest: str

    @property
    def where(self) -> Location:
        return self.before[-1][0]

    @property
    def statement(self) -> str:
        """What the current statement has so far."""
        code = _bare("\n".join(line for _, line in self.before[-64:]))
        return re.split(r"[;{}]", code)[-1].strip()


def likely(lines: list[tuple[Location, str]], at: int, column: int, macros: Iterable[str] = ()) -> tuple[Location, str]:
    """(where, what is wrong) for a stop in lines[at], whose columns count from 1. macros: those that there are."""
    where, line = lines[at]
    stop = Stop([*lines[:at], (where, line[: column - 1])], line[column - 1 :])
    return _open_text(stop, line) or _at_the_end(stop) or _missing_end(stop) or (where, _on_the_line(stop, line, macros))


def _bare(code: str) -> str:
    """Without texts and shifts."""
    return _SHIFT.sub("", _TEXT.sub('""', code))


def _open_text(stop: Stop, line: str) -> tuple[Location, str] | None:
    """dtc lets a text go on until the next quote, some lines below."""
    lines = [*stop.before[:-1], (stop.where, line)]
    where = next((where for where, one in lines if _TEXT.sub("", one).count('"') % 2), None)
    return (where, 'a text on this line lacks its closing `"`') if where else None


def _at_the_end(stop: Stop) -> tuple[Location, str] | None:
    """The file ended, or a brace closed, too early."""
    code = _bare("\n".join(line for _, line in stop.before))
    depth = code.count("{") - code.count("}")
    if not stop.rest.strip() and depth > 0:
        last = next((where for where, line in reversed(stop.before) if line.strip()), stop.where)
        return last, f"the file ends inside {'a node' if depth == 1 else f'{depth} nodes'}: `}};` is missing"
    if stop.rest.startswith("}") and depth <= 0:
        return stop.where, "there is one `}` too many"
    return None


def _missing_end(stop: Stop) -> tuple[Location, str] | None:
    """The token begins a line, and what stands before it has no end."""
    if stop.before[-1][1].strip():
        return None
    where, line = next(((where, line.strip()) for where, line in reversed(stop.before) if line.strip()), (stop.where, ";"))
    if line[-1] in ";{,=<[" or line == "/dts-v1/;":
        return None
    closing = ">" if _bare(line).count("<") > _bare(line).count(">") else ""
    head = _HEAD.fullmatch(line)
    if head and (head["label"] or head["unit"]):
        return where, "this line lacks its `{`"
    return where, f"this line lacks its `{closing};`{' or `{`' if head else ''}"


def _on_the_line(stop: Stop, line: str, macros: Iterable[str]) -> str:
    rest, statement = stop.rest, stop.statement
    macro, word, directive = _MACRO.match(rest), _WORD.match(rest), _DIRECTIVE.match(rest)
    if directive and not line[: line.index("#")].strip() and (hint := did_you_mean(directive["name"], DIRECTIVES)):
        return f"there is no directive `#{directive['name']}`{hint}"
    if rest.startswith("#") or statement.startswith("#"):
        return "a comment begins with `//`, or stands between `/*` and `*/`"
    if macro:
        return _no_macro(macro["name"], macros)
    if word and _CAPITALS.fullmatch(word[0]) and "=" in statement:
        return _undefined(word[0])
    if statement.count("<") > statement.count(">"):
        return _in_cells(statement, rest, word[0] if word else "")
    if word and statement.endswith("="):
        return (
            f'`{word[0]}` is neither a text, which stands in quotes, as in "{word[0]}", nor a number or a reference, as in <1> and <&label>'
        )
    if word and _VALUE.search(statement):
        return f"before `{word[0]}` a `;` is missing"
    return _odd(rest)


def _odd(rest: str) -> str:
    """Where the compiler stopped, by the token; columns after a macro are not the file's."""
    token = _TOKEN.match(rest)
    return f"{UNKNOWN}: `{token[0]}` cannot stand here" if token else UNKNOWN


def _no_macro(name: str, macros: Iterable[str]) -> str:
    how = f"; add `#define {name}(n) 0x0 ((n) << {SIZES[name]})` at the top" if name in ("KiB", "MiB") else ""
    how = "; `GiB(n)` is `MiB(n * 1024)`, below 4 GiB" if name == "GiB" else how
    return f"there is no macro `{name}`{how or did_you_mean(name, macros)}"


def _undefined(name: str) -> str:
    return f"nothing defines `{name}`: neither this file nor this platform's board tree; write its value, or put what uses it between `#ifdef {name}` and `#endif`"


def _in_cells(statement: str, rest: str, word: str) -> str:
    if rest.startswith(","):
        return "between `<` and `>` stand cells without commas, as in <&cpu0 &cpu1>"
    if rest.startswith('"'):
        return "a text stands outside of `<` and `>`"
    if word and (digits := _DIGITS.search(statement)):
        return f"`{digits[0]}{word}` is no number; numbers have no unit (docs/configuration.md says which each property takes)"
    if word:
        return f"`{word}` is no number; a reference is written `&{word}`"
    if rest.startswith((";", "}")):
        return "a list of cells lacks its `>`"
    return _odd(rest)
