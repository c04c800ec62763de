# SPDX-License-Identifier: Apache-2.0
"""Every exit of a Linux boot by kind, in the three cases of Quest-V's table 1: without protection, with all, and with devices blocked.

A Linux whose serial port is blocked says nothing, so that it is ready is not to be seen. In all cases it therefore reboots at once (SysRq b) when it
is up; its sandbox, which may not, is then off, and what its monitor has counted is the whole life of that kernel.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from bhtool.bench.exits import BOOT_LIMIT, BOOT_TARGET, DEMO, IDENTIFIES, LINUX
from bhtool.bench.protections import protections
from bhtool.bench.result import Result, Row
from bhtool.bench.stage import out_of_time, refuse_end, set_up
from bhtool.image.payloads import ENDING, Report
from bhtool.machine.launch import Timing
from bhtool.machine.memory import Exits
from bhtool.machine.session import CrashEvent, EndEvent, Event
from bhtool.platforms import Platform

# In place of a network card, which nobody can be given: a function that works without DMA. Bochs has a display alone, which Linux would drive.
FUNCTION = {"qemu": "pcitest0"}
# Linux reads IA32_MISC_ENABLE of an Intel processor before it can take a fault; Bochs' processors lack it, its monitor shows one.
KEPT = {"vmx": ("msr",)}
CHANGE = """\
#include "{demo}"
&{linux} {{
	/delete-property/ takes-the-rest;
	bootargs = "quiet {ending}=b";
{changes}
}};
"""


@dataclass(frozen=True)
class Boot:
    """A case: what is changed of the demo's Linux, and whether its exits are judged."""

    name: str
    changes: str
    judged: bool

    def write(self, folder: Path) -> Path:
        file = folder / "linux.dts"
        file.write_text(CHANGE.format(demo=DEMO, linux=LINUX, ending=ENDING, changes=self.changes))
        return file


def devices(platform: Platform) -> list[str]:
    """What is Linux's in two cases and blocked in the third."""
    return ["uart0", *(name for kind, name in FUNCTION.items() if kind == platform.emulator.kind)]


def boots(platform: Platform) -> list[Boot]:
    """A second opinion is judged by no count: Linux looks for other things on another processor."""
    own = f"access = {', '.join(f'<&{one}>' for one in devices(platform))};"
    off = ", ".join(f'"{one}"' for one in protections(platform) if one not in KEPT.get(platform.backend, ()))
    judged = not platform.second_opinion_on
    return [
        Boot("no protection", f"{own} unprotected = {off};", False),
        Boot("all", own, judged),
        Boot("all, devices blocked", 'console = "none";', judged),
    ]


def is_end_of_linux(event: Event | None) -> bool:
    """Where nothing keeps a PC's Linux from the ports, rebooting ends the machine, or shuts its processor down."""
    return isinstance(event, EndEvent) or (isinstance(event, CrashEvent) and event.sandbox == LINUX and event.crash.reason == "reset")


def count(platform: Platform, boot: Boot, report: Report) -> Exits:
    """All that Linux has caused from its first instruction until it reboots."""
    with tempfile.TemporaryDirectory() as folder:
        stage = set_up(platform, boot.write(Path(folder)), report)
    report(f"counting on {platform.name}: Linux boots and reboots, {boot.name}")
    with stage.session(Timing()) as session:
        for event in session.events(BOOT_LIMIT):
            watch = session.watches[LINUX]
            if watch.stats and (watch.state == "off" or (watch.ready and is_end_of_linux(event))):
                return watch.stats.exits
            if event is not None:
                refuse_end(session, event)
    raise out_of_time(f"booting Linux, {boot.name},", BOOT_LIMIT)


def rows(platform: Platform, boot: Boot, exits: Exits) -> list[Row]:
    besides = IDENTIFIES.get(platform.backend, ())
    total = Row.of(f"{boot.name}: in all, besides CPUID", "exits", [sum(n for reason, n in exits.items() if reason not in besides)])
    by_kind = [Row.of(f"{boot.name}: {reason}", "exits", [n]) for reason, n in exits.items() if n]
    return [total.at_most(BOOT_TARGET) if boot.judged else total, *by_kind]


def run(platform: Platform, report: Report) -> Result:
    found = [row for boot in boots(platform) for row in rows(platform, boot, count(platform, boot, report))]
    facts = {"blocked": " and ".join(devices(platform))}
    if kept := KEPT.get(platform.backend):
        facts["no protection"] = f"but {', '.join(kept)}, without which Linux does not start there"
    return Result("traps", platform.name, found, facts)
