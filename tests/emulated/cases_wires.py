# SPDX-License-Identifier: Apache-2.0
"""BH-I3.forms. Wires that a core can raise without any filter (docs/sideband.md): each reaches nobody.

FERR#: a guest that clears CR0.NE turns its x87 exceptions into a signal to pin 13 of the I/O APIC. SDM vol. 1, 8.7.2 "MS-DOS Compatibility
Sub-mode". VT-x keeps NE set.
"""

from tests.emulated.case import SVM, VTX, Case, Sandbox, attacked
from tests.emulated.expect import Expectation, Refused, Returned, Says

FERR_PIN, VECTOR = 13, 0x5D
NOBODYS = "the line of FERR# is nobody's"
IOAPIC, IOREDTBL = 0xFEC00000, 0x10


def ferr(expected: Expectation, platform: str) -> Case:
    return Case("wire-ferr", NOBODYS, attacked("ferr ferr"), (expected,), (platform,))


def opens(register: int, value: int) -> str:
    return f"ioapic={IOAPIC:#x},{value << 32 | register:#x}"


LOW = IOREDTBL + 2 * FERR_PIN
# Without the I/O APIC's filter a sandbox can open the pin itself: then every sandbox interrupts it.
LISTENS = (
    Sandbox("bystander", 0),
    Sandbox("attacker", 1, "ticks=400 ferr", beats=False),
    Sandbox("victim", 2, f"{opens(LOW + 1, 2 << 24)} {opens(LOW, VECTOR)}", unprotected=("irq",), beats=False),
)

CASES = (
    ferr(Returned("attacker", "ferr", 0), SVM),
    ferr(Refused("attacker", "ferr", "#MF"), VTX),
    Case("wire-ferr-listened-to", NOBODYS, LISTENS, (Says("victim", rf": stray interrupt {VECTOR:#x}\b"),), (SVM,)),
)
