# SPDX-License-Identifier: Apache-2.0
"""Addresses that a case names and the tool places: "read={victim.ram:#x}" becomes an address of the plan.

{NAME.ram} {NAME.ram_end} {NAME.ram_last} host-physical RAM of a sandbox, from its first stretch to its last; its last page
{NAME.gpa} {NAME.gpa_end} the same as it sees it
{NAME.gpa_last}           its last page
{NAME.pool} {NAME.arena}  frames of its monitor               {NAME.index} its number, as `kick` wants it
{NAME.alias}              its pool, as a sandbox without memory protection sees what its own RAM hides
{NAME.entry}              where its program begins, host-physical
{shared}                  the page of kick mailboxes              {image} the monitor as it was loaded
{iommu}                   tables and queues of the IOMMU
"""

from dataclasses import dataclass
from typing import Self

from bhtool import abi
from bhtool.config.board import read_board
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.platforms import load


@dataclass(frozen=True)
class Place:
    ram: int
    ram_end: int
    gpa: int
    gpa_end: int
    gpa_last: int
    pool: int
    arena: int
    index: int
    ram_last: int
    entry: int
    alias: int = 0

    @classmethod
    def of(cls, one: SandboxPlan, alias: int = 0) -> Self:
        ram, gpa = (
            (one.ram[0].hpa, one.ram[-1].hpa + one.ram[-1].size),
            (one.ram_gpa, one.ram_gpa + one.ram_size, one.ram_gpa + one.ram_size - abi.lib.BH_PAGE_BYTES),
        )
        return cls(
            *ram,
            *gpa,
            one.pool_hpa,
            one.pool_hpa + int(abi.lib.BH_POOL_ARENA),
            one.index,
            ram[1] - abi.lib.BH_PAGE_BYTES,
            ram[0] + one.entry - gpa[0],
            one.pool_hpa + alias,
        )


@dataclass(frozen=True)
class Places:
    sandboxes: dict[str, Place]
    shared: int
    image: int
    iommu: int = 0

    @classmethod
    def of(cls, plan: Plan) -> Self:
        regions = [region for one in plan.sandboxes for region in one.regions]
        alias = next((one.gpa - one.hpa for one in regions if one.kind == "open" and one.name.startswith("alias")), 0)
        return cls(
            {one.name: Place.of(one, alias) for one in plan.sandboxes},
            plan.shared_hpa,
            read_board(load(plan.platform)).image_address,
            plan.iommu_hpa,
        )

    def fill(self, text: str) -> str:
        return text.format(**self.sandboxes, shared=self.shared, image=self.image, iommu=self.iommu) if "{" in text else text
