# SPDX-License-Identifier: Apache-2.0
"""BH-F1.documented. docs/configuration.md says what the bindings and rules say, and its examples are valid."""

import re
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.config.compile import survey_partition
from bhtool.config.properties import CHANNEL, DOMAINS, HEALTH, REGION, SANDBOX, VCPU
from bhtool.config.reference import read, render
from bhtool.config.rules import BY_ID
from bhtool.config.vcpus import OF_IO, OF_MAIN
from bhtool.platforms import load

EXAMPLES = """/dts-v1/;
#include BOARD_DTSI
/ {
reserved-memory { #address-cells = <2>; #size-cells = <2>; ranges; control_ram: control { SIZE }; linux_ram: linux { size = <0x0 0x8000000>; }; pinned { REG }; };
domains { compatible = "bulkhead,partitions-v1"; IDLE
control: control { compatible = "bulkhead,sandbox-v1"; NATIVE health { RESTART }; loop { MAIN }; nic-io { SERVER }; };
speed { compatible = "bulkhead,channel-v1"; CHANNEL };
linux: linux { compatible = "bulkhead,sandbox-v1"; cores = <&cpu1>; memory-region = <&linux_ram>; access = <&uart0>; console = <&uart0>; image = "vmlinuz"; LINUX };
};
};
"""
OF_LINUX = ("os,type", "initrd", "kernel-package", "modules", "accepts-notify")
APART = (
    "takes-the-rest",
    "load-address",
    "health",
    "terminal",
    "telemetry",
)  # beside others of the sandbox they mean something else; `health` as a node of all its own; the last two name channels that are not there


def test_the_page_is_current() -> None:
    current = (paths.ROOT / "docs" / "configuration.md").read_text()
    assert current == render(), "make it anew: python -m bhtool.config.reference > ../docs/configuration.md, from tools/"


def test_every_property_has_a_row() -> None:
    sandbox = read("bulkhead,sandbox-v1.yaml")["properties"]
    assert SANDBOX.keys() == sandbox.keys() - {"compatible"}
    assert VCPU.keys() == read("bulkhead,sandbox-v1.yaml")["additionalProperties"]["properties"].keys() - {"phandle"}
    assert HEALTH.keys() == sandbox["health"]["properties"].keys()
    assert CHANNEL.keys() == read("bulkhead,channel-v1.yaml")["properties"].keys() - {"compatible"}
    assert REGION.keys() == read("bulkhead,memory.yaml")["additionalProperties"]["properties"].keys() - {"phandle"}
    assert DOMAINS.keys() == read("bulkhead,partitions-v1.yaml")["properties"].keys() - {"compatible", "$nodename"}


@pytest.mark.parametrize("name", sorted({**SANDBOX, **HEALTH, **VCPU, **CHANNEL, **REGION, **DOMAINS}))
def test_a_row_names_rules_that_there_are(name: str) -> None:
    fact = {**SANDBOX, **HEALTH, **VCPU, **CHANNEL, **REGION, **DOMAINS}[name]
    assert [rule for rule in re.findall(r"[RW]\d+", fact.rules) if f"BH-{rule}" not in BY_ID] == []
    assert re.match(rf"{name}\b", fact.example)


def test_examples_are_valid(tmp_path: Path) -> None:
    """All that can stand in one file do; it is refused for what the references mean there, not for any form."""
    native = " ".join(fact.example for name, fact in SANDBOX.items() if name not in (*OF_LINUX, *APART))
    of_linux = " ".join(SANDBOX[name].example for name in OF_LINUX)
    health = " ".join(fact.example.replace("&watcher", "&linux") for fact in HEALTH.values())
    text = (
        EXAMPLES.replace("SIZE", REGION["size"].example)
        .replace("REG", REGION["reg"].example)
        .replace("IDLE", DOMAINS["idle-cores"].example)
        .replace("CHANNEL", " ".join(fact.example for fact in CHANNEL.values()))
    )
    of_main = " ".join(VCPU[name].example for name in VCPU if name not in OF_IO)
    of_io = " ".join(VCPU[name].example for name in VCPU if name not in OF_MAIN)
    text = text.replace("MAIN", of_main.replace("&cpu1", "&cpu0")).replace(
        "SERVER", of_io.replace("&cpu1", "&cpu0").replace("&nic0", "&uart1")
    )
    file = tmp_path / "examples.dts"
    file.write_text(text.replace("NATIVE", native).replace("RESTART", health).replace("LINUX", of_linux))
    plan, _ = survey_partition(file, load("qemu-aarch64"))
    refused = {
        "BH-R080",
        "BH-R088",
        "BH-R121",
        "BH-R180",
        "BH-R181",
    }  # no kick, a Linux told, no DMA, readers of a ring, on request with devices that reach everything
    assert {one.rule for one in plan.errors} == refused, plan.errors
