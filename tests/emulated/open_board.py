# SPDX-License-Identifier: Apache-2.0
"""A board without an IOMMU whose network card masters the bus all the same: QEMU's `virt` without its SMMUv3, as a folder and a tree of a copy of this project.

Nothing but the monitor's filter and its quiesce stands between such a card and all memory.
"""

from dataclasses import replace

from bhtool import abi, paths
from bhtool.config.table import checksum
from bhtool.image.formats import bootable
from bhtool.platforms import Platform, load

from tests.emulated.case import GICV3, Case, Sandbox
from tests.emulated.cases_dma import CARD, FIRST, WORD
from tests.emulated.expect import Contained, Parked, Restarted, Returned
from tests.emulated.observe import judge, observe
from tests.emulated.scene import Scene, monitor, stage

NAME = "open-aarch64"
# File of the model, what is changed there besides the name, and into what.
CHANGES = (
    (f"platforms/{GICV3}/board.h", "{ BH_IOMMU_SMMUV3, BOARD_SMMU_BASE, 0 }", "{ BH_IOMMU_NONE, 0, 0 }"),
    (f"platforms/{GICV3}/platform.toml", ",iommu=smmuv3", ""),
    (f"platforms/{GICV3}/meson.build", "", ""),
)
TREE = f'#include "{GICV3}.dtsi"\n/delete-node/ &iommu;\n&pci0 {{ /delete-property/ iommu-map; }};\n'
ASKS = "a driver of ours, on a machine without an IOMMU"
ARRIVES = "a driver adds what its information page says, and its card reaches the sandbox's memory"
OPEN = "without an IOMMU a card reaches all memory, as the checker warns"
UNASKED = "a function that nobody let master the bus does not, whatever its guest writes"
ENDS = "bus mastering ends with the sandbox's life, and begins anew with the next"
PERMISSION = "open-without-permission"
WRITE, READ = "dma-write={driver.ram_last}", "dma-read={driver.ram_last}"
SEEN = "read={driver.gpa_last}"


def people(arguments: str, health: str = "", victim: str = "", ends: bool = False) -> tuple[Sandbox, ...]:
    driver = Sandbox("driver", 1, arguments, access=(CARD,), allows_dma=ASKS, health=health, beats=not ends)
    return (Sandbox("bystander", 0), driver, Sandbox("victim", 2, victim))


CASES = (
    Case(
        "open-own",
        ARRIVES,
        people(f"ticks=99 {WRITE} {SEEN} {READ}"),
        (Returned("driver", WRITE, 1), Returned("driver", SEEN, WORD), Returned("driver", READ, FIRST), Contained("driver")),
        (GICV3,),
    ),
    Case(
        "open-foreign",
        OPEN,
        people("ticks=99 dma-write={victim.ram_last}", victim="ticks=999 read={victim.gpa_last}"),
        (Returned("driver", "dma-write={victim.ram_last}", 1), Returned("victim", "read={victim.gpa_last}", WORD)),
        (GICV3,),
    ),
    Case(PERMISSION, UNASKED, people(f"ticks=99 {WRITE} {SEEN}"), (Returned("driver", WRITE, 0), Returned("driver", SEEN, 0)), (GICV3,)),
    Case(
        "open-again",
        ENDS,
        people(f"ticks=99 first={WRITE} crash=1 {SEEN} {WRITE} {READ}", 'on-fault = "restart"; max-restarts = <1>;'),
        (Restarted("driver", 1), Returned("driver", SEEN, 0), Returned("driver", READ, FIRST), Contained("driver")),
        (GICV3,),
    ),
    # As firmware may leave it, every function masters the bus before start-up.
    Case("open-ended", ENDS, people(f"{WRITE} crash=1", ends=True), (Parked("driver", ""),), (GICV3,), garbage="ones"),
)
BY_NAME = {one.name: one for one in CASES}


def made() -> Platform:
    """The board, in the tree that this file lies in, which is a copy that may have it."""
    for file, old, new in CHANGES:
        text = (paths.ROOT / file).read_text()
        assert old in text, f"{file} has no {old}"
        _write(file.replace(GICV3, NAME), text.replace(old, new).replace(GICV3, NAME))
    _write(f"dts/boards/{NAME}.dtsi", TREE)
    return load(NAME)


def _write(file: str, text: str) -> None:
    """Only if it is another: Ninja goes by time."""
    path = paths.ROOT / file
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def unasked(platform: Platform, scene: Scene) -> Scene:
    """The driver's card has the mark of a function that does no DMA."""
    table = abi.view("bh_table", scene.plan.table)
    for one in (*list(table.pci_functions)[: table.pci_function_count], *list(table.regions)[: table.region_count]):
        if one.dma == abi.lib.BH_DMA_UNPROTECTED:
            one.dma = abi.lib.BH_DMA_FREE
    table.checksum = checksum(abi.bytes_of(table))
    plan = replace(scene.plan, table=abi.bytes_of(table))
    return Scene(plan, scene.places, bootable(platform, monitor(platform), plan))


def wrong_with(case: Case, limit_seconds: float) -> list[str]:
    platform, tried = made(), replace(case, limit_seconds=limit_seconds)
    scene = stage(platform, tried)
    assert [one.rule for one in scene.plan.warnings] == ["BH-W094"], "the checker warns of it"
    seen = observe(platform, tried, unasked(platform, scene) if case.name == PERMISSION else scene)
    wrong = judge(tried, seen)
    return [*wrong, seen.state()] if wrong else []
