# SPDX-License-Identifier: Apache-2.0
"""How tests went: through the log that Meson writes of tests in C, and through the JUnit files that pytest writes."""

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bhtool.evidence.claims import name_in_c
from bhtool.evidence.results import Outcome, Result
from bhtool.testing.cost import PROPERTY, Cost

LEFT = "left to --long"  # why a test was not started, in JUnit files
TEST, PLATFORM = "test", "platform"  # properties of a test case in JUnit files
PASSED, SKIPPED = "OK", "SKIP"  # in Meson's log; any other result is a failure: FAIL, ERROR, TIMEOUT, INTERRUPT, UNEXPECTEDPASS, ...
NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, 2.2 "Characters"


def case_of_meson(row: dict[str, Any]) -> ET.Element:
    """A test case from a line of Meson's log. A test's name there has its project and its suites in front."""
    place, _, test = row["name"].rpartition(" / ")
    case = ET.Element("testcase", classname=place.partition(":")[0], name=row["name"], time=str(row["duration"]))
    ET.SubElement(ET.SubElement(case, "properties"), "property", name=TEST, value=name_in_c(test))
    if row["result"] == SKIPPED:
        ET.SubElement(case, "skipped")
    elif row["result"] != PASSED:
        said = "".join(row.get(stream) or "" for stream in ("stdout", "stderr"))
        ET.SubElement(case, "failure", message=row["result"]).text = NO_XML.sub("?", said)
    return case


def name_in_python(case: ET.Element) -> str:
    """FILE::NAME, as a claim has it: from the module's dotted name, and without the group that xdist adds to the name of a test of a crashed worker."""
    file = case.get("classname", "").replace(".", "/")
    head, bracket, rest = case.get("name", "").rpartition("]")
    return "::".join(filter(None, (file and f"{file}.py", head + bracket + rest.partition("@")[0])))


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

    def add_meson(self, log: Path) -> None:
        """Every test of Meson's log, testlog.json. Its JUnit file says nothing of a test that ran out of time: that one looks as if it had passed."""
        if not log.exists():
            return
        cases = [case_of_meson(json.loads(line)) for line in log.read_text(encoding="utf-8").splitlines()]
        suite = ET.Element("testsuite", name="unit tests in C", tests=str(len(cases)))
        suite.extend(cases)
        self.suites.append(suite)
        for case in cases:
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
        said = {one.get("name"): one.get("value") for one in case.iter("property")}
        self.results.append(
            Result(said.get(TEST) or name_in_python(case), outcome, round(float(case.get("time") or 0), 3), said.get(PLATFORM))
        )

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
