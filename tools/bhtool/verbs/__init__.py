# SPDX-License-Identifier: Apache-2.0
"""One module a verb. What each does stands here, where the launcher can read it before anything is installed.

A new one: a row in VERBS and in EXAMPLES, in LIGHT_VERBS or SOURCE_VERBS if it is such, a module with a function of its name, and
docs/commands.md regenerated (`python -m bhtool.commands`).
"""

VERBS = {
    "setup": "Install everything this project needs.",
    "run": "Start a machine split into sandboxes and show what they do.",
    "debug": "Start a machine and gdb on one of its sandboxes.",
    "trace": "Write what sandbox kernels did and when, for Perfetto or as a picture.",
    "new": "Write a partition file to begin with, and settings for editors.",
    "check": "Judge a partition file and show what it gives to whom.",
    "test": "Build and test everything.",
    "evidence": "Show which requirement is proven by which tests, at this commit.",
    "oracle": "Prove the tables of a running machine equal to its partition file.",
    "bench": "Measure interrupt paths, start-up and exits.",
    "attack": "Let hostile sandboxes try to break out.",
    "faults": "Flip bits in a running machine and see whom that disturbs.",
    "size": "Measure the resident monitors and their tables.",
    "figures": "Write measured figures into the documents.",
    "image": "Write a bootable image.",
    "disk": "Write a disc with a Debian root file system.",
    "overlay": "Tell the build of Zephyr, FreeRTOS or any kernel what its sandbox has.",
    "headers": "Write the channels of each sandbox as constants for C and Python.",
    "sdk": "Write what guests that are built elsewhere need.",
    "package": "Pack the command for machines that have no clone.",
    "platforms": "Show which machines there are and what each proves.",
    "explain": "Say what a rule, a property, a crash reason or a result means.",
    "completion": "Print what makes a shell complete this command.",
}
LIGHT_VERBS = ("setup", "platforms", "explain", "completion", "new")  # need no compiler and no emulator

SOURCE_VERBS = (
    "test",
    "evidence",
    "oracle",
    "bench",
    "attack",
    "faults",
    "size",
    "figures",
    "package",
)  # need the sources, which a package does not have
COMPLETE = "_BULKHEAD_COMPLETE"  # a shell that completes a line sets it

EXAMPLES = {  # hold in a clone and in a package; `mine` is what `new mine` writes
    "": ("run", "new mine", "check mine/partition.dts", "run --platform qemu-svm --partition mine/partition.dts --until ready"),
    "setup": ("setup --dry-run", "setup --yes"),
    "run": ("run", "run --platform qemu-armv7 --seconds 3", "run --partition mine/partition.dts --attach linux"),
    "debug": ("debug sensor", "debug control --break heartbeat_start", "debug linux --symbols vmlinux --platform qemu-svm"),
    "trace": (
        "trace -o mine.pftrace --partition mine/partition.dts",
        "trace -o mine.pftrace --partition mine/partition.dts --seconds 2 --plot mine.svg",
    ),
    "new": ("new mine", "new mine --template guest"),
    "check": ("check mine/partition.dts", "check mine/partition.dts --platform qemu-svm --json mine.json"),
    "test": ("test --quick", "test emulated --platform qemu-svm -k restart"),
    "evidence": ("evidence", "evidence --strict --json build/evidence.json"),
    "oracle": ("oracle --partition mine/partition.dts --platform qemu-svm",),
    "bench": ("bench", "bench costs --platform qemu-aarch64"),
    "attack": ("attack --platform qemu-aarch64",),
    "faults": ("faults --count 50", "faults --platform qemu-svm --only 7"),
    "size": ("size", "size --json size.json"),
    "figures": ("figures --check",),
    "image": ("image --platform qemu-svm -o bulkhead.iso", "image --platform qemu-aarch64 --partition mine/partition.dts -o bulkhead.img"),
    "disk": ("disk --arch arm64 -o debian.img", "disk --arch amd64 --package python3-minimal --size 2G -o python.img"),
    "overlay": (
        "overlay mine/partition.dts control --for zephyr",
        "overlay mine/partition.dts control --for c --platform qemu-armv7 -o control.h",
    ),
    "headers": ("headers mine/partition.dts",),
    "sdk": ("sdk -o bulkhead-sdk",),
    "package": ("package --format deb -o dist",),
    "platforms": ("platforms",),
    "explain": ("explain BH-R047", "explain deadline-us", "explain memory", "explain -2"),
    "completion": ("completion bash",),
}
