# SPDX-License-Identifier: Apache-2.0
"""Which requirement a case is evidence for: IDs in its `guards`, else the row below in which its `guards` stand, else what its file names."""

from types import ModuleType

from tests.claims import named_in
from tests.emulated import table
from tests.emulated.case import Case

FILTER = "the send filter knows the sandbox's own cores"
GUARDS = {
    ("BH-I1.memory",): (
        "stage 2 maps nothing of another sandbox",
        "a guest's table walks go through stage 2",
        "an access that begins in own memory is refused for its other half",
        "RAM ends where the table says",
        "guest-physical addresses are not host-physical ones",
        "pages of the window have the permissions of the table",
        "only logs named in log-access are mapped",
        "another sandbox's log is read only",
    ),
    ("BH-I1.memory", "BH-I4.private"): ("no sandbox maps frames of a monitor",),
    ("BH-I1.device",): (
        "device registers are mapped only to their owner",
        "how interrupts end is the monitor's choice, and one write",
        "foreign redistributors are seen to be there, and are nobody's",
        "what the distributor filter writes is the priority the guest gave",
        "the distributor filter touches granted lines only",
        "a line goes to a core of its sandbox, or stays where it is",
        "the I/O APIC's filter touches granted entries only",
        "a level line has no vector of another sandbox's level lines",
        "a guest's priority mask is the machine's",
    ),
    ("BH-I1.register",): (
        "SVM is hidden",
        "VT-x is hidden",
        "the time base is common",
        "the MSR permission map grants registers by number",
        "what is refused is not shown",
        "registers of EL2 are out of reach at EL1",
        "what is not offered is trapped and refused",
        "registers of the secure world are out of reach",
        "the OS lock is the monitor's",
        "counters count what their own core does above EL2",
        "a monitor's work is not counted, whatever a guest asks for",
    ),
    ("BH-I1.port",): ("the I/O permission map grants ports by number",),
    ("BH-I1.dma", "BH-I1.device"): ("no function masters the bus",),
    ("BH-I1.device", "BH-I1.dma"): ("a card drives no line of another's",),
    ("BH-I1.ipi",): (
        "broadcasts and shorthands are expanded to own cores",
        "an NMI reaches the own core it names, whatever that does",
        "INIT stops an own core",
        "a sandbox starts its own cores only",
    ),
    ("BH-I1.ipi", "BH-I3.forms"): (FILTER,),
    ("BH-I1.ipi", "BH-F2.cores"): ("a sandbox starts its own cores, when they are off, and nothing else",),
    ("BH-I1.ipi", "BH-I2.exitless"): ("an IPI is one exit, at its sender",),
    ("BH-I3.forms",): (
        "the send filter passes fixed interrupts only",
        "no IPI is level-triggered: its end would be told to every level line with its vector",
        "local vector table entries deliver fixed interrupts only",
        "the local APIC stays where it is, in x2APIC mode",
        "lines of a sandbox stay in group 1",
        "an entry of the I/O APIC delivers fixed interrupts to own cores only",
    ),
    ("BH-I2.exitless",): ("interrupts reach the sandbox without an exit",),
    ("BH-I4.kick",): (
        "no guest can mask, lose or forge a kick",
        "no line of a sandbox outranks the kick",
        "monitors that wait for each other answer meanwhile",
        "monitors that wait for each other answer meanwhile, and heal nothing that is wanted",
        "a core can be kicked as soon as it runs a sandbox, and the boot core too",
        "a kick needs may-kick",
        "an access that a sandbox may make ends in no fault, whenever a kick comes",
        "no kick to any core of a sandbox is lost",
        "a kick is answered for a sandbox that has stopped its own first core",
        "a kick is answered, whatever becomes of whom it was sent to",
    ),
    ("BH-I6.contained",): (
        "a monitor serves its sandbox and nobody else",
        "power-off ends the sandbox, not the machine",
        "reset ends the sandbox, not the machine",
        "shutdown is intercepted",
        "a trapped access without a syndrome parks",
        "an unknown call changes nothing",
        "all cores of a sandbox end together",
    ),
    ("BH-I6.contained", "BH-F2.restart"): (
        "a sandbox is restarted by its own monitor, and nobody else notices",
        "however often a sandbox begins again, a control loop beside it misses no beat",
        "no core of a sandbox runs while it is restarted, and all can run again",
        "whatever ends a life in a reset begins another",
    ),
    ("BH-I8.bounded", "BH-F2.restart"): ("restarts are counted", "no core uses up tries that it has for kicks"),
    ("BH-I8.bounded",): ("an exit comes back, as often as it is made",),
    ("BH-F2.restart",): (
        "memory is zero but for the payload",
        "memory is zero in all stretches of the rest",
        "lines are as at first",
        "registers are as at first",
        "a request begins again where there is a boot snapshot, and is not counted as a fault",
        "without on-fault = restart a request is the end",
        "a sandbox that falls silent is stopped by whoever watches it",
        "a sandbox that falls silent is restarted by whoever watches it",
        "a sandbox that beats is left alone by whoever watches it",
    ),
    ("BH-F2.contract",): ("the entry contract is all a program needs", "a sandbox can end itself", "a call comes back after itself"),
    ("BH-I1.register", "BH-P2.wbinvd"): ("WBINVD and INVD are intercepted",),
}
OF_GUARDS = {sentence: names for names, sentences in GUARDS.items() for sentence in sentences}
MODULES = [module for module in vars(table).values() if isinstance(module, ModuleType) and hasattr(module, "CASES")]
OF_FILE = {case: named_in(module.__doc__) for module in MODULES for case in module.CASES}


def of_case(case: Case) -> tuple[str, ...]:
    return named_in(case.guards) or OF_GUARDS.get(case.guards) or OF_FILE.get(case, ())
