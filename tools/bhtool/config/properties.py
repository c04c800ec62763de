# SPDX-License-Identifier: Apache-2.0
"""What docs/configuration.md says of each property besides its meaning: form and unit, default, an example, the rules that judge it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    form: str
    default: str
    example: str
    rules: str  # of the table of rules; forms are BH-R003 for all


SANDBOXES = "references to sandboxes"

DOMAINS = {
    "idle-cores": Fact("references to cores", "none", "idle-cores = <&cpu3>;", "R021, W020"),
}
CHANNEL = {
    "from": Fact("one reference to a sandbox", "-", "from = <&control>;", "R161"),
    "to": Fact("one reference to another sandbox", "-", "to = <&linux>;", "R161"),
    "kind": Fact('`"mailbox"`, `"ring"` or `"latest"`', '`"mailbox"`', 'kind = "ring";', "R163"),
    "slot-bytes": Fact("one cell, bytes, a multiple of 64, 64 to 1 MiB", "4096", "slot-bytes = <4096>;", "R162, R165"),
    "slots": Fact("one cell, a power of two, 2 to 1024; of a ring only", "8", "slots = <8>;", "R163, R165"),
    "readers": Fact("one cell, 1 to 7; of a latest value only", "1", "readers = <2>;", "R180, R165"),
    "on-request": Fact("a flag, without a value", "not set: always open", "on-request;", "R165, R181"),
    "doorbell-max-hz": Fact(
        "one cell, Hz, for both ends, or one for the rings of `from` and one for those of `to`; 0: never",
        "nobody rings",
        "doorbell-max-hz = <10000>;",
        "R176, R177",
    ),
    "deadline-us": Fact("one cell, microseconds, 1 or more", "none: as long as it takes", "deadline-us = <5000>;", "R167 to R169"),
    "service-us": Fact("one cell, microseconds, 1 or more", "none: at once", "service-us = <100>;", "R167, R168"),
}
REGION = {
    "size": Fact(
        "two cells, bytes, a multiple of 2 MiB; the tool finds the place", "-", "size = <0x0 0x1000000>;", "R033, R037, R038, R039"
    ),
    "reg": Fact(
        "address and size, two cells each, both multiples of 2 MiB; instead of `size`",
        "-",
        "reg = <0x0 0x60000000 0x0 0x800000>;",
        "R033 to R036",
    ),
}
SANDBOX = {
    "cores": Fact(
        "references to one to 16 cores", "with `takes-the-rest`: all that nobody else has", "cores = <&cpu0>, <&cpu2>;", "R020 to R024"
    ),
    "memory-region": Fact(
        "one reference", "with `takes-the-rest`: all that nobody else has", "memory-region = <&control_ram>;", "R030 to R032, R039"
    ),
    "access": Fact("references to devices", "none", "access = <&uart1>;", "R040 to R049, R056, R059, R110 to R112"),
    "takes-the-rest": Fact("a flag, without a value", "not set", "takes-the-rest;", "R015, W031, W049"),
    "os,type": Fact('`"native"` or `"linux"`', '`"native"`', 'os,type = "linux";', "R038, R052, R061"),
    "image": Fact("a file's name", "-", 'image = "sandbox-kernel.elf";', "R060 to R066, W060"),
    "load-address": Fact("two cells, an address in the sandbox's RAM", "none", "load-address = <0x0 0x40080000>;", "R061, R063, R064"),
    "initrd": Fact("a file's or a directory's name", "none", 'initrd = "rootfs.cpio.gz";', "R055, R060, R065, R067, R130, R131, W061"),
    "kernel-package": Fact("a package's name", "the platform's", 'kernel-package = "linux-image-arm64";', "R132, R133"),
    "modules": Fact("one to 64 names", "none", 'modules = "e1000e", "virtio_net";', "R068, R069, W170"),
    "bootargs": Fact("text; `native`: at most 191 bytes", "empty", 'bootargs = "quiet";', "R013, W172"),
    "ready-line": Fact("text, not empty", "none", 'ready-line = "my root: up";', ""),
    "console": Fact('`"log"`, `"none"` or one reference to a UART', '`"log"`; Linux names one', "console = <&uart1>;", "R050 to R052"),
    "terminal": Fact(
        "references to two rings: one from the sandbox, one to it", "none", "terminal = <&control_says &control_hears>;", "R179, R183"
    ),
    "telemetry": Fact("one reference to a latest value from the sandbox", "none", "telemetry = <&control_telemetry>;", "R182"),
    "trusted-idle": Fact("a flag, without a value", "not set", "trusted-idle;", ""),
    "unprotected": Fact("one or more of the seven names", "none", 'unprotected = "msr";', "R090 to R092, W090"),
    "allow-unprotected-dma": Fact(
        "a reason", "none", 'allow-unprotected-dma = "no IOMMU on this board; the driver is ours";', "R120 to R123, W094"
    ),
    "may-kick": Fact(SANDBOXES, "none", "may-kick = <&linux>;", "R053, R080"),
    "log-access": Fact(SANDBOXES, "none", "log-access = <&linux>;", "R054"),
    "sees-dma-faults": Fact("a flag, without a value", "not set", "sees-dma-faults;", "R115"),
    "accepts-notify": Fact(SANDBOXES, "none", "accepts-notify = <&control>;", "R058, R087"),
    "scheduler": Fact('`"rate-monotonic"` or `"edf"`', '`"rate-monotonic"`', 'scheduler = "rate-monotonic";', "R004, R141"),
    "health": Fact("a node", "none: a fault parks the sandbox", 'health { on-fault = "restart"; max-restarts = <3>; };', "R080 to R088"),
}
HEALTH = {
    "on-fault": Fact('`"park"` or `"restart"`', '`"park"`', 'on-fault = "restart";', "R084"),
    "max-restarts": Fact("one cell, 1 to 1,000,000", "none: needed to restart", "max-restarts = <3>;", "R081, R085"),
    "then": Fact('`"park"`', '`"park"`', 'then = "park";', "R085"),
    "heartbeat-timeout-us": Fact(
        "one cell, microseconds, 100 to 10,000,000", "none: nobody looks", "heartbeat-timeout-us = <20000>;", "R080, R082, R083"
    ),
    "notify": Fact(SANDBOXES, "nobody", "notify = <&watcher>;", "R086 to R088"),
}
VCPU = {
    "budget-us": Fact("one cell, microseconds", "-", "budget-us = <200>;", "R140, R143, R149, W143, W152"),
    "period-us": Fact(
        "one cell, microseconds", "I/O VCPU: the shortest of the sandbox's Main VCPUs", "period-us = <1000>;", "R140, R142, R149"
    ),
    "serves": Fact("one reference to a device", "-", "serves = <&nic0>;", "R004, R140, R145, R147"),
    "utilization-percent": Fact("one cell, 1 to 100", "-", "utilization-percent = <10>;", "R140, R146, R149, W143"),
    "max-rate-hz": Fact("one cell, 1 or more", "not told", "max-rate-hz = <10000>;", "R140, R146, R149, W151"),
    "program": Fact("a program's name, at most 31 characters", "the node's name", 'program = "loop";', "R011, R150, W150, W171"),
    "foreground-only": Fact("a flag, without a value", "not set", "foreground-only;", ""),
    "core": Fact("one reference to a core", "the sandbox's first", "core = <&cpu1>;", "R004, R148, R150"),
}
