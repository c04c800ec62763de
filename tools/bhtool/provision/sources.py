# SPDX-License-Identifier: Apache-2.0
"""Reads this machine's APT source entries, one-line and deb822 alike, so that copies with another suite can be made."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

APT = Path("/etc/apt")


@dataclass(frozen=True)
class Source:
    uris: str
    suites: tuple[str, ...]
    components: str
    signed_by: str = ""  # as written, including deb822 continuation lines
    types: str = "deb"

    def with_suite(self, suite: str) -> "Source":
        return replace(self, suites=(suite,), components="main")

    def deb822(self) -> str:
        lines = [f"Types: {self.types}", f"URIs: {self.uris}", f"Suites: {' '.join(self.suites)}", f"Components: {self.components}"]
        return "\n".join(lines + ([f"Signed-By: {self.signed_by}"] if self.signed_by else [])) + "\n"


def parse_deb822(text: str) -> list[Source]:
    """Every enabled binary stanza. Comments may stand anywhere; continuation lines begin with a blank."""
    found = []
    body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n[ \t]*\n", body):
        fields: dict[str, str] = {}
        name = ""
        for line in stanza.splitlines():
            if line[:1].isspace() and name:
                fields[name] += "\n" + line
            elif ":" in line:
                name, value = line.split(":", 1)
                name = name.strip().lower()
                fields[name] = value.strip()
        enabled = fields.get("enabled", "yes").lower() not in ("no", "false", "off", "0")
        if enabled and "deb" in fields.get("types", "").split() and {"uris", "suites"} <= fields.keys():
            suites = tuple(fields["suites"].split())
            found.append(Source(" ".join(fields["uris"].split()), suites, fields.get("components", ""), fields.get("signed-by", "")))
    return found


def parse_one_line(text: str) -> list[Source]:
    """`deb [options] URI SUITE COMPONENT...`, one a line."""
    found = []
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)((?:\s+[^\s#]+)*)", line)
        if match:
            key = re.search(r"signed-by=(\S+)", match[1] or "", re.IGNORECASE)
            found.append(Source(match[2], (match[3],), match[4].strip(), key[1] if key else ""))
    return found


def machine_sources(apt: Path = APT) -> list[Source]:
    found: list[Source] = []
    for path in [apt / "sources.list", *sorted(apt.glob("sources.list.d/*"))]:
        if path.is_file() and path.suffix in (".list", ".sources"):
            parse = parse_deb822 if path.suffix == ".sources" else parse_one_line
            found += parse(path.read_text(encoding="utf-8"))
    return found


def of_release(sources: list[Source], codename: str) -> list[Source]:
    """The distribution's own entries (release, updates, security), without third parties and without backports."""
    kept = []
    for source in sources:
        suites = tuple(s for s in source.suites if re.fullmatch(rf"{codename}(-updates|-security|/updates)?", s))
        if suites:
            kept.append(replace(source, suites=suites))
    return kept


def main_entry(sources: list[Source], codename: str) -> Source | None:
    """The entry that brings the release itself: what to copy for another suite."""
    for source in sources:
        if codename in source.suites and "main" in source.components.split():
            return source
    return None


def release() -> tuple[str, str]:
    """(distribution, codename) of this machine, as in os-release(5); empty strings where it does not say."""
    path = Path("/etc/os-release")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))
    return fields.get("ID", ""), fields.get("VERSION_CODENAME", "")
