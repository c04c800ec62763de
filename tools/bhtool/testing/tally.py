# SPDX-License-Identifier: Apache-2.0
"""How tests went, through the JUnit files that Meson and pytest write."""

import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bhtool.evidence.claims import name_in_c
from bhtool.evidence.results import Outcome, Result
from bhtool.testing.cost import PROPERTY, Cost

LEFT = "left to --long"  # why a test was not started, in JUnit files
TEST, PLATFORM = "test", "platform"  # properties of a test case in JUnit files


@dataclass
class Tally:
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # long tests that the change touches, and that there was no time for
    costs: list[Cost] = field(default_factory=list)
    parts: dict[str, Counter[str]] = field(default_factory=dict)  # passed, failed and skipped ones of each file
    suites: list[ET.Element] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)  # of each test that ran, by the name that its claim has

    def add_junit(self, path: Path) -> None:
        """Every test case of a file; one is failed if it holds a failure or an error."""
        if not path.exists():
            return
        for suite in ET.parse(path).getroot().iter("testsuite"):
            self.suites.append(suite)
            for case in suite.iter("testcase"):
                self._add_case(case)

    def _add_case(self, case: ET.Element) -> None:
        name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
        skip = case.find("skipped")
        self._add_cost(case, name)
        part = self.parts.setdefault(case.get("classname", ""), Counter())
        if case.find("failure") is not None or case.find("error") is not None:
            self.failed.append(name)
            part["failed"] += 1
            self._add_result(case, "failed")
        elif skip is not None and skip.get("message") == LEFT:
            self.left.append(name)
        elif skip is not None:
            self.skipped.append(f"{name}: {skip.get('message') or 'no reason given'}")
            part["skipped"] += 1
            self._add_result(case, "skipped")
        else:
            self.passed += 1
            part["passed"] += 1
            self._add_result(case, "passed")

    def _add_result(self, case: ET.Element, outcome: Outcome) -> None:
        """Meson's names have the suite in front."""
        said = {one.get("name"): one.get("value") for one in case.iter("property")}
        test = said.get(TEST) or name_in_c(case.get("name", "").rpartition(" / ")[2])
        self.results.append(Result(test, outcome, round(float(case.get("time") or 0), 3), said.get(PLATFORM)))

    def _add_cost(self, case: ET.Element, name: str) -> None:
        for one in case.iter("property"):
            if one.get("name") == PROPERTY:
                self.costs.append(Cost(case.get("classname", ""), name, float(one.get("value", "0"))))

    def fail(self, name: str) -> None:
        """Something that has no test case of its own went wrong."""
        self.failed.append(name)

    def write_junit(self, path: Path) -> None:
        root = ET.Element("testsuites", name="bulkhead")
        root.extend(self.suites)
        ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)

    def last_line(self) -> str:
        return f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"
