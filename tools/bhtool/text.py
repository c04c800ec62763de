# SPDX-License-Identifier: Apache-2.0
"""Text for people: sizes that can be read, names close to a wrong one, and bytes of a file that no terminal may act on. Standard library only."""

import difflib
import re
from collections.abc import Iterable

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
UNITS = ((TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"))
CLOSE = 0.6  # difflib's ratio
_NUMBERED = re.compile(r"(?P<stem>.*\D)(?P<number>\d+)")


def size_text(size: int) -> str:
    """Exact, but for odd sizes of many MiB."""
    if size >= 16 * MIB and size % MIB:
        return f"{size / MIB:,.1f} MiB"
    for unit, name in UNITS:
        if size >= unit and size % unit == 0:
            return f"{size // unit:,} {name}"
    return f"{size:,} B"


def us_text(span_ns: int) -> str:
    """Rounded up."""
    return f"{-(-span_ns // 1000):,} us"


def counted(count: int, thing: str, things: str = "") -> str:
    """`3 restarts`, `1 restart`, `0 restarts`; `things`: a plural that is not formed by an s."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def close_to(name: str, known: Iterable[str], ratio: float = CLOSE) -> str:
    """The name that was meant, as far as one can tell; empty: none is close."""
    by_letters = {_letters(one): one for one in known}
    found = difflib.get_close_matches(_letters(name), by_letters, n=1, cutoff=ratio)
    return by_letters[found[0]] if found else ""


def _letters(name: str) -> str:
    """`_` for `-` and a capital for a small letter are mistakes of the hand, not of the word."""
    return name.lower().replace("_", "-")


def did_you_mean(name: str, known: Iterable[str], quote: str = "`") -> str:
    """The end of a clause that says that `name` is unknown; empty: nothing is close. Of numbered names, such as cpu9, all that there are."""
    everything = list(known)
    numbered = _NUMBERED.fullmatch(name)
    series = [one for one in everything if numbered and re.fullmatch(rf"{re.escape(numbered['stem'])}\d+", one)]
    if series:
        return f" ({all_of(series, quote)})"
    meant = close_to(name, everything)
    return f" (did you mean {quote}{meant}{quote}?)" if meant else ""


def all_of(names: Iterable[str], quote: str = "`") -> str:
    """A clause, such as "there are `north`, `south`", for who named another."""
    quoted = [f"{quote}{one}{quote}" for one in names]
    return f"there {'is' if len(quoted) == 1 else 'are'} {', '.join(quoted) or 'none'}"


def visible(text: str) -> str:
    """On one line, with escapes such as \\x1b for whatever is not printed as it is: text out of files and names of files must not steer a terminal."""
    return text if text.isprintable() else "".join(one if one.isprintable() else _escape(one) for one in text)


def visible_lines(text: str) -> str:
    """The same of several lines."""
    return "\n".join(map(visible, text.split("\n")))


def _escape(one: str) -> str:
    """A byte that is no UTF-8 arrives as a surrogate (PEP 383)."""
    code = ord(one)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return one.encode("unicode_escape").decode("ascii")
