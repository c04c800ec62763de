# SPDX-License-Identifier: Apache-2.0
"""What a linked program's text and constants are made of: the linker's map.

     VMA              LMA     Size Align Out     In      Symbol
40080000         40080000     aa28  2048 .text
40080090         40080090       3c    16         kernel/libkernel.a.p/core_clock.c.o:(.text.clock_init)
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from bhtool.errors import BulkheadError

SECTIONS = (".text", ".rodata")
OUTPUT = re.compile(r"^ *[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) +\d+ (\.\S+)$")
INPUT = re.compile(r"^ *[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) +\d+ {9}(\S+)\.o:\(")


@dataclass(frozen=True)
class Linked:
    """`whole`: both sections, gaps included; `objects`: what each object file brought to them, by its last name without `.o`."""

    whole: int
    objects: Mapping[str, int]

    def bytes_of(self, names: Collection[str]) -> int:
        """Of the files that begin or end with one of these; each has to name one."""
        ends = tuple(names)
        if missing := [end for end in ends if not any(name.startswith(end) or name.endswith(end) for name in self.objects)]:
            raise BulkheadError(f"nothing of {', '.join(missing)} is linked: adapt bench/sched.py")
        return sum(size for name, size in self.objects.items() if name.startswith(ends) or name.endswith(ends))

    def bytes_without(self, names: Collection[str]) -> int:
        """All but those; each has to be there, for a file that was renamed would count."""
        if missing := set(names) - self.objects.keys():
            raise BulkheadError(f"nothing of {', '.join(sorted(missing))} is linked: adapt bench/sched.py")
        return self.whole - sum(self.objects[name] for name in names)


def read_map(file: Path) -> Linked:
    whole, section, objects = 0, "", Counter[str]()
    for line in file.read_text(encoding="utf-8").splitlines():
        if found := OUTPUT.match(line):
            section = found[2]
            whole += int(found[1], 16) if section in SECTIONS else 0
        elif section in SECTIONS and (found := INPUT.match(line)):
            objects[found[2].rpartition("/")[2]] += int(found[1], 16)
    return Linked(whole, objects)
