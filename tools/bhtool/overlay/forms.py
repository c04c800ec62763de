# SPDX-License-Identifier: Apache-2.0
"""The files that each kind of kernel wants, as texts, and what to do with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jinja2

from bhtool.config.span import Span
from bhtool.errors import BulkheadError
from bhtool.families.table import FAMILIES
from bhtool.overlay.facts import Facts

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=jinja2.StrictUndefined,
    autoescape=False,
)
# Zephyr's board for QEMU's `virt` machine with a GICv3: one UART, a clock of its own making.
ZEPHYR_BOARD, ZEPHYR_CLOCK_HZ, ZEPHYR_UART = "qemu_cortex_a53", 62_500_000, 0x9000000
ZEPHYR_FW_CFG = Span(0x9020000, 0x18)
ZEPHYR_OTHER_GIC = f"its QEMU board for AArch64, {ZEPHYR_BOARD}, has a GICv3, this platform a GICv2"


@dataclass(frozen=True)
class Form:
    what: str  # for --help
    suffixes: tuple[str, ...]  # of the files; the first is the one that -o names
    write: Callable[[Facts], list[str]]  # one text for each
    next_step: Callable[[list[Path]], str]  # what to type now


@dataclass(frozen=True)
class FreeRtos:
    port_text: str
    defines: list[str]


def cells(span: Span) -> str:
    """Two cells each, as the boards' trees have them."""
    return " ".join(f"{value >> 32:#x} {value & 0xFFFFFFFF:#010x}" for value in (span.start, span.size))


def _render(template: str, facts: Facts, **more: object) -> str:
    return TEMPLATES.get_template(template).render(facts=facts, cells=cells, **more)


def _zephyr(facts: Facts) -> list[str]:
    unfit = FAMILIES[facts.platform.arch].programs.zephyr_unfit
    if unfit or facts.gic != 3:  # docs/guides/run-zephyr-or-freertos.md lists what a board of one's own has to say
        raise BulkheadError(
            f"Zephyr has no board that fits {facts.platform.name}: {unfit or ZEPHYR_OTHER_GIC}; "
            "choose --platform qemu-aarch64, or make a board of your own of what --for c says"
        )
    if facts.console_uart is None:
        raise BulkheadError(
            f'{facts.location}: `{facts.name}` has console = "{facts.console}", which Zephyr has no driver for; '
            "give it a UART: access = <&uart1>; console = <&uart1>;"
        )
    another = any(span.start == ZEPHYR_UART for span in facts.uarts_of_others)
    more = {"board": ZEPHYR_BOARD, "board_clock_hz": ZEPHYR_CLOCK_HZ, "fw_cfg": ZEPHYR_FW_CFG}
    return [_render("zephyr.overlay.j2", facts, uart_of_another=another, **more), _render("zephyr.conf.j2", facts, **more)]


def _west(files: list[Path]) -> str:
    overlay, conf = (file.resolve() for file in files)
    return f"west build -b {ZEPHYR_BOARD} APPLICATION -- -DDTC_OVERLAY_FILE={overlay} -DEXTRA_CONF_FILE={conf}"


def _freertos(facts: Facts) -> list[str]:
    if not FAMILIES[facts.platform.arch].programs.freertos_port:
        raise BulkheadError(f"FreeRTOS has no port for {facts.platform.arch}, which {facts.platform.name} is; choose an ARM platform")
    text = _render("sandbox.h.j2", facts, purpose=", for FreeRTOS", freertos=_freertos_port(facts))
    return [text, _render("sandbox.ld.j2", facts)]


def _freertos_port(facts: Facts) -> FreeRtos:
    """The port's own names. Priorities are as many as the GIC has: five bits in QEMU's GICv3, eight in its GICv2."""
    if facts.gic == 3:
        text = "Port: portable/GCC/ARM_AARCH64_SRE, compiled with -DGUEST (EL1)."
        return FreeRtos(text, ["configUNIQUE_INTERRUPT_PRIORITIES 32", "configMAX_API_CALL_INTERRUPT_PRIORITY 18"])
    base = dict(facts.controllers)
    dist, cpu = base["gicv2-dist"].start, base["gicv2-cpu"].start
    port = FAMILIES[facts.platform.arch].programs.freertos_port
    return FreeRtos(
        f"Port: portable/GCC/{port}.",
        [
            "configUNIQUE_INTERRUPT_PRIORITIES 256",
            "configMAX_API_CALL_INTERRUPT_PRIORITY 144",
            f"configINTERRUPT_CONTROLLER_BASE_ADDRESS {dist:#x}",
            f"configINTERRUPT_CONTROLLER_CPU_INTERFACE_OFFSET {cpu - dist:#x}",
        ],
    )


def _header(facts: Facts) -> list[str]:
    return [_render("sandbox.h.j2", facts, purpose="", freertos=None)]


def _linker(facts: Facts) -> list[str]:
    return [_render("sandbox.ld.j2", facts)]


FORMS = {
    "zephyr": Form("a device-tree overlay and a Kconfig fragment", (".overlay", ".conf"), _zephyr, _west),
    "freertos": Form("a header for FreeRTOSConfig.h and a linker script", (".h", ".ld"), _freertos,
                     lambda files: f'#include "{files[0].name}" in FreeRTOSConfig.h, and link with -T {files[1]}'),
    "c": Form("a header with every address, line and core", (".h",), _header, lambda files: f'#include "{files[0].name}"'),
    "ld": Form("a linker script", (".ld",), _linker, lambda files: f"link with -T {files[0]}"),
}  # fmt: skip
