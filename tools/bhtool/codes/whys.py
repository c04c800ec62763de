# SPDX-License-Identifier: Apache-2.0
"""What `bulkhead explain` adds to a rule where its one sentence does not do: why it stands, how it is usually broken, what right looks like."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Why:
    reason: str = ""
    causes: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    example: str = ""


MINIMAL = """\
/dts-v1/;
#define MiB(n) 0x0 ((n) << 20)
#include BOARD_DTSI
/ {
	reserved-memory {
		#address-cells = <2>; #size-cells = <2>; ranges;
		hello_ram: hello { size = <MiB(4)>; };
	};
	domains {
		compatible = "bulkhead,partitions-v1";
		idle-cores = <&cpu0>, <&cpu2>, <&cpu3>;
		hello {
			compatible = "bulkhead,sandbox-v1";
			cores = <&cpu1>; memory-region = <&hello_ram>; image = "hello.elf"; console = "log";
		};
	};
};"""
SIZES = """\
engine_ram: engine { size = <0x0 0x1000000>; };                 /* 16 MiB, the tool places it */
sensor_ram: sensor@60000000 { reg = <0x0 0x60000000 0x0 0x800000>; };  /* 8 MiB, pinned */"""

VCPUS = """\
control {
	compatible = "bulkhead,sandbox-v1";
	/* ... */
	loop { budget-us = <200>; period-us = <1000>; };                        /* 20 % of its core, at 1 kHz */
	search { budget-us = <500>; period-us = <5000>; program = "findprimes"; };
};"""

DEADLINE = """\
samples { compatible = "bulkhead,channel-v1"; from = <&sensor>; to = <&control>; kind = "ring"; slot-bytes = <64>; deadline-us = <5000>; };"""
CHANNEL = """\
speed { compatible = "bulkhead,channel-v1"; from = <&control>; to = <&linux>; kind = "ring"; slot-bytes = <4096>; slots = <8>; };"""

WHYS = {
    "BH-R001": Why(
        "The C preprocessor and dtc read the file; what they say is passed on, with their line.",
        causes=("`#include BOARD_DTSI` is missing, so that no label of the board exists", "a `;` or a brace is missing on the line before"),
        example=MINIMAL,
    ),
    "BH-R002": Why(
        "A misspelt property would be a grant or a protection that is silently missing.",
        causes=("a misspelling", "a property of the board's binding in a sandbox's node"),
        remedies=("docs/configuration.md has every property with its meaning",),
    ),
    "BH-R003": Why(
        causes=(
            "`size = <0x1000000>`: addresses and sizes take two cells each, `<0x0 0x1000000>`",
            "text without quotation marks, or a number in them",
            'a reference as text: `cores = "cpu1"` for `cores = <&cpu1>`',
        ),
        example=SIZES,
    ),
    "BH-R005": Why(example=MINIMAL),
    "BH-R009": Why(
        "The board tree says what the machine is, and the monitor of that board was built for it; whoever splits it cannot make it another machine.",
        causes=(
            '`&uart1 { status = "okay"; }`, as in other device trees: a device is given by `access`, and enabled in the board tree',
            "a device that the board tree lacks, described in the partition file",
            "`reserved` made smaller; to keep more of the lowest RAM, define LOW_RESERVED before the board is included",
        ),
    ),
    "BH-R020": Why(
        causes=("the board has fewer cores: `tools/bulkhead platforms` and dts/boards tell",), example="cores = <&cpu1>, <&cpu2>;"
    ),
    "BH-R021": Why(
        "A core belongs to one sandbox for good: nothing is scheduled on shared cores.",
        causes=("the same label in two `cores`", "a core that is in `idle-cores` and in a sandbox"),
    ),
    "BH-R022": Why(
        "Two threads of one core share its caches, its execution units and parts of its state: they cannot be kept from each other.",
    ),
    "BH-R023": Why(causes=("`takes-the-rest` where every core has been given away already",)),
    "BH-R033": Why(
        "Sandboxes are mapped by large leaves, which keeps their tables small and their address translation fast.",
        example=SIZES,
    ),
    "BH-R034": Why(causes=("an address of another board: RAM begins at 0x40000000 on the ARM platforms, at 0 on PCs",), example=SIZES),
    "BH-R035": Why("The lowest RAM holds firmware and the monitor's image, which starts there.", example=SIZES),
    "BH-R036": Why(example=SIZES),
    "BH-R037": Why(
        "RAM of every sandbox, what its monitor takes, and the copies that restarts need have to lie in the machine's RAM, each in one stretch.",
        causes=(
            "a region pinned by `reg` in the middle of what is free",
            "more asked for than the machine has: platforms/*/platform.toml, `ram`",
        ),
        remedies=("pin nothing that need not lie somewhere: `size` alone lets the tool place it",),
        example=SIZES,
    ),
    "BH-R040": Why(
        causes=("a core, a memory region or the interrupt controller in `access`", "a device without registers and ports"),
        example="access = <&uart1>, <&pcitest0>;",
    ),
    "BH-R041": Why(
        "A device has one driver. What two need, one of them has, and serves the other.",
        causes=("the same label in two `access`, or twice in one",),
    ),
    "BH-R042": Why(
        "Memory is granted in pages of 4 KiB. Whoever has one register of a page has all of them.",
        causes=("boards put several small devices on one page: timers, GPIO, watchdogs",),
        remedies=("a neighbour that nobody has is given with it, or taken out of the board tree if it is not there",),
    ),
    "BH-R043": Why(
        "An interrupt line goes to one sandbox's core: whoever gets it would have to tell the other, and could keep it waiting.",
        causes=("PCI functions of one slot share INTx lines", "boards wire several devices to one line"),
    ),
    "BH-R046": Why("Devices are found at the machine's own addresses, RAM from where the entry contract says; so long RAM may reach them."),
    "BH-R047": Why(
        "Devices of one sandbox may share a line, and their drivers ask each in turn; the controller has one setting for it, level or edge.",
        causes=("two nodes of the board tree have the same line in `interrupts`, with other flags",),
    ),
    "BH-R049": Why(
        "A device that writes to memory by itself, without an IOMMU that stops it, writes to any memory: DMA fails closed.",
        causes=(
            "the device's binding is not in the list of docs/configuration.md: network, storage, video, virtio, whose queues are DMA",
            "a listed binding with `dmas`, `iommus`, `dma-coherent` or the like",
            "a foreign `compatible` before a listed one: the first string decides",
        ),
        example='bulkhead,dma-free = "registers only";      /* in the device\'s node, in the board tree */',
    ),
    "BH-R050": Why(example='access = <&uart1>; console = <&uart1>;        /* or: console = "log"; */'),
    "BH-R052": Why(example='os,type = "linux"; access = <&uart0>; console = <&uart0>;'),
    "BH-R053": Why(example="may-kick = <&engine>;"),
    "BH-R060": Why(
        "Names are looked for beside the partition file first, then among what the tool provides.",
        causes=(
            "a path relative to the shell's directory: they are relative to the partition file",
            "`image` of a program that has not been built",
        ),
        remedies=(
            "provided are `sandbox-kernel.elf`, `vmlinuz`, `rootfs.cpio.gz`, `rootfs-can.cpio.gz` and `rootfs-channels.cpio.gz`; in a clone also `probe.elf`, for tests",
        ),
    ),
    "BH-R061": Why(
        "`native` takes a statically linked ELF executable; Linux an Image (arm64), zImage (ARMv7) or bzImage (x86).",
        causes=(
            "a dynamically linked or position-independent ELF: link with -static -no-pie",
            'a vmlinux or a Linux kernel without os,type = "linux"',
        ),
    ),
    "BH-R062": Why(
        causes=(
            "a file built for another processor: `file NAME` tells",
            "`--platform` is missing: the default is qemu-aarch64",
            "a Multiboot kernel for PCs (kvm-unit-tests, Zephyr's and NuttX' boards): it is entered in 32-bit mode with a Multiboot information"
            " structure, a sandbox in 64-bit mode with the address of struct bh_info in RDI (docs/guest.md)",
        )
    ),
    "BH-R063": Why(
        "A sandbox sees its RAM from 0x40000000 on ARM and from 0 on a PC, unless `guest-ram` of the board tree says otherwise, wherever it lies in the machine.",
        causes=(
            "linked to an address of the bare board",
            "a board of your own with another `guest-ram`, and no `guests_at` in platforms/NAME/meson.build: programs of the clone are linked for the family's",
            "ELF headers lie below the text: -Ttext moves the text alone, so give the image base",
        ),
        example="clang-19 ... -Wl,--image-base=0x40080000      # ARM; 0x200000 on a PC",
    ),
    "BH-R064": Why(
        "Below the image lie the stack at entry and, on a PC, the first page tables.",
        example="clang-19 ... -Wl,--image-base=0x40080000      # ARM; 0x200000 on a PC",
    ),
    "BH-R065": Why(
        causes=("a large initrd, which Linux unpacks into the same RAM",), remedies=("as a rule: RAM of 64 MiB and three times the initrd",)
    ),
    "BH-R080": Why(
        "Nobody's clock interrupts a sandbox to look after it: its monitor looks at the heartbeat when somebody kicks it.",
        example="may-kick = <&engine>;      /* in the sandbox that watches `engine` */",
    ),
    "BH-R084": Why(
        "A restart copies the payload back from a copy that nobody can write, which takes as much RAM as the payload, outside every sandbox.",
        remedies=('or take on-fault = "restart" out',),
    ),
    "BH-R087": Why(
        "A notice is an interrupt in the other sandbox, so that one has to agree.",
        example="accepts-notify = <&engine>;      /* in the other */",
    ),
    "BH-R125": Why(
        "Behind VT-d a monitor owns the addresses of messages, so it keeps the pages around their table. Start-up compares their place with the function's own capability.",
        causes=("a table that was copied from another card", "a base address that the node leaves out"),
        example="nic: ethernet@5,0 { bulkhead,msix = <3 0x0 5>; };      /* base address 3, offset 0, 5 entries: lspci -vv shows them */",
    ),
    "BH-R124": Why(
        "Without that feature a virtio function uses the machine's own addresses, as QEMU's do by default: a closed IOMMU lets all of its traffic pass.",
        causes=(
            "a board tree made for a machine whose virtio functions have `iommu_platform=on`, without saying so",
            "a device number from 0x1000 to 0x103f: a transitional function, which has an interface without that feature besides (`disable-legacy=on` takes it away)",
        ),
        example='virtio: ethernet@9,0 { compatible = "pci1af4,1041", "pciclass,0200"; bulkhead,iommu-platform; };      /* in the board tree */',
    ),
    "BH-R140": Why(
        "A child of a sandbox is a VCPU by what it has: `health` aside, its name says nothing.",
        causes=("`utilization-percent` for a program: that is what an I/O VCPU has", "a period without a budget"),
        example=VCPUS,
    ),
    "BH-R143": Why(
        "A VCPU runs for its budget in each of its periods, however busy others are; a budget that is its period takes the core whole, and one that is smaller than a switch"
        " is used up by that (`[scheduler]` of platform.toml says what one takes).",
        causes=("milliseconds for microseconds", "budget and period exchanged"),
        example=VCPUS,
    ),
    "BH-R145": Why(
        "An I/O VCPU handles what a device of its sandbox interrupts for; a device of others interrupts those.",
        causes=("the device is in no `access`, or in another sandbox's", "its node in the board tree has no `interrupts`"),
        example="access = <&uart1>; console = <&uart1>; echo { serves = <&uart1>; utilization-percent = <10>; };",
    ),
    "BH-R149": Why(
        "Either the utilization of all is below a bound that always fits, or each VCPU's response time, with all that comes before it, is within its period: what a"
        " core cannot give is not promised. The kernel's own VCPU `main`, 20 ms of each 100 ms, for the console and its commands, counts as the others do.",
        causes=(
            "budgets that are larger than their programs need",
            "an I/O VCPU, which counts for up to twice its share",
            "a line with a high `max-rate-hz`: each of its interrupts is counted with what a top half takes, 15 us of its core on `qemu-aarch64`",
        ),
        remedies=("the message names the VCPU that is late first, and a budget or a `max-rate-hz` with which all would fit",),
        example=VCPUS,
    ),
    "BH-R150": Why(
        "The UART interrupts the sandbox's first core, and what it received is kept there; on another core the kernel makes no VCPU for such a program.",
        example="echo { budget-us = <200>; period-us = <1000>; };      /* on the first core, without `core` */",
    ),
    "BH-R161": Why(
        "A channel has two ends, each of them one sandbox: who writes a word of it is never in doubt.",
        causes=("the label of a sandbox's RAM or of a device", "one channel for several receivers: give each of them one"),
        example=CHANNEL,
    ),
    "BH-R163": Why(
        "Message n of a ring lies in slot n modulo their number, also when n begins anew at 0: so that is a power of two. A mailbox has a slot for each way, `latest` two for each reader and two more.",
        causes=('`slots` without kind = "ring"', "a number of slots that was worked out from a rate: take the next power of two"),
        example=CHANNEL,
    ),
    "BH-R165": Why(
        "Each end sees the whole channel in its window, 8 MiB of which are for channels. A channel takes 256 bytes for each area, 64 bytes and `slot-bytes` for each slot,"
        " whole pages of that, and a page of its own.",
        causes=(
            "a ring with many slots of many bytes",
            "slots as large as a picture: a receiver that only needs the newest one is served by `latest`, with four",
        ),
        remedies=("the message names the largest channel, and what would fit",),
        example=CHANNEL,
    ),
    "BH-R166": Why(
        "Devices are seen at the machine's own addresses, channels in the window, from 1 MiB after its beginning on.",
        causes=("a board of your own whose `guest-window` lies just below registers or RAM",),
        example="guest-window = <0x0 0x0c000000>;      /* in the board tree: 9 MiB from there on are free of devices */",
    ),
    "BH-R169": Why(
        "A message waits for the budget of who takes it. In the worst case its VCPU has just had that, and others come first in the next period. The bound adds up what may be"
        " waited at both ends, with what switches and the message itself take: docs/channel-bounds.md. `check` shows it for each channel, beside what the paper would say.",
        causes=(
            "a period as long as the deadline: up to twice that is waited",
            "VCPUs with shorter periods on the same core",
            "a large `slot-bytes`, which may take several budgets to copy and to check",
            "an end that no VCPU is known of: it is the one that is called as the channel is; Linux has none",
        ),
        remedies=("the message names a period of each end with which it would be met, or of both together, if there is one",),
        example=DEADLINE,
    ),
    "BH-R180": Why(
        "Each reader says in a word of its own which two slots it reads, and the sender fills two that none reads: nobody waits for anybody. There are seven such words in a channel.",
        causes=("readers in several sandboxes: give each sandbox a channel of its own", '`readers` without kind = "latest"'),
        example=CHANNEL,
    ),
    "BH-R181": Why(
        "A closed channel is a hole in the sandbox's memory. Its kernel opens it by a hypercall, `BH_CALL_OPEN`, before it touches it, Linux' module when a program opens its file; a sandbox that does without protection of memory has no holes.",
        example="on-request;      /* in a channel between two sandboxes that are protected */",
    ),
    "BH-R182": Why(
        "The sandbox kernel writes all that it tells in one piece, ten times in a second, and its reader shall find the newest whole: so it is a latest value, and a slot holds it. Linux tells nothing:"
        " its own programs show what it does.",
        causes=(
            "a ring or a mailbox, in which what nobody takes would stand in the way",
            "`slot-bytes` of a channel that carries other values, too",
        ),
        example='control_telemetry: control-telemetry { compatible = "bulkhead,channel-v1"; from = <&control>; to = <&linux>; kind = "latest"; };',
    ),
    "BH-W143": Why(
        "Each time that a VCPU gets its turn the core takes a switch, which admission counts, on `qemu-aarch64` as 11 us: with a small budget it does little else. Ten times"
        " the budget of ten times the period is the same share.",
        example="poll { budget-us = <200>; period-us = <1000>; };      /* for 20 us of 100 us */",
    ),
    "BH-W150": Why(
        "The kernel says so on its console, and makes no VCPU for it. The name of a VCPU is that of its program unless `program` says otherwise.",
        causes=("a misspelling", "an I/O VCPU that is called by what it serves, without `program`"),
        example='serial-io { serves = <&uart1>; utilization-percent = <10>; program = "echo"; };',
    ),
    "BH-W152": Why(
        "VCPUs are rows BH_GRANT_VCPU of the sandbox's information page; no monitor looks at them. Response times and the bounds of channels are those of the scheduler that"
        " docs/admission.md describes.",
        causes=("a kernel of another, such as Zephyr or FreeRTOS, which has threads of its own", "a program in C without a scheduler"),
    ),
    "BH-W170": Why(
        "/dev/bulkhead/NAME is made by the module `bulkhead`. The tool builds it for the kernel `vmlinuz` and puts it into the root file system, if `modules` names it.",
        causes=(
            "`rootfs-channels.cpio.gz`, which has programs for channels (bulkhead-console, bulkhead-top, bulkhead-sink), and no module",
            "a `terminal` or a `telemetry` that leads to Linux: these are channels, too",
        ),
        example='image = "vmlinuz"; initrd = "rootfs-channels.cpio.gz"; modules = "bulkhead";',
    ),
    "BH-W171": Why(
        "`source` sends to the ring or latest value that is called as its VCPU is, `sink` takes from it; `relay` takes from the ring of its name and sends to the ring NAME-on. One"
        " that finds no such channel says so on the console, and ends.",
        causes=(
            "the VCPU is called as its program is",
            "`from` and `to` exchanged",
            "a mailbox, which is what a channel without `kind` is",
        ),
        example='samples { program = "source"; budget-us = <200>; period-us = <1000>; };      /* in the sandbox of `from` of channel `samples` */',
    ),
    "BH-W172": Why(
        "`send`, `receive`, `open`, `close`, `reopen`, `ring` and `rung` take the name of a channel that leads from the sandbox or to it: docs/guest.md.",
        causes=("a misspelling", "a channel between two other sandboxes"),
        example='bootargs = "wait=500 send=orders,hello";',
    ),
    "BH-W020": Why(
        "A core without an owner stays off: often a core was forgotten.", example="idle-cores = <&cpu2>, <&cpu3>;      /* in `domains` */"
    ),
    "BH-W049": Why(
        "DMA fails closed for `takes-the-rest`, too (BH-R049); a device is not withheld without a word.",
        example='bulkhead,dma-free = "registers only";      /* in the device\'s node, in the board tree */',
    ),
    "BH-W090": Why(
        "The sandbox can reach what that protection keeps from it, and harm everybody; docs/not-isolated.md.",
        remedies=("tests and benchmarks of this project are the use of it",),
    ),
}
