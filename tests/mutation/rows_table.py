# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in the monitor's check of its partition table, beyond its removed checks."""

from tests.mutation.mutation import Mutation

HEADER = "monitor/boot/table/header_boot.c"
SPANS = "monitor/boot/table/spans_boot.c"
DEVICES = "monitor/boot/table/devices_boot.c"
PAYLOAD = "monitor/boot/table/payload_boot.c"
VALIDATOR = [HEADER, SPANS, DEVICES, PAYLOAD, "monitor/boot/table/regions_boot.c", "monitor/boot/table/table_boot.c"]
CHANNEL_CHECKS = "monitor/boot/table/channels_boot.c"
VALIDATOR.append(CHANNEL_CHECKS)

TABLE = [
    Mutation("checksum stops early", HEADER, "uint64_t n = 0; n < count;", "uint64_t n = 0; n + 1 < count;", "table_test"),
    Mutation(
        "base addresses of a function that nobody judged",
        DEVICES,
        "region->kind != BH_REGION_BANKED && region->dma != BH_DMA_FREE",
        "region->kind == BH_REGION_DEVICE && region->dma != BH_DMA_FREE",
        "table_test",
    ),
    Mutation("any word on a device's DMA is good", DEVICES, "region->dma != BH_DMA_FREE", "region->dma == BH_DMA_UNKNOWN", "table_test"),
    Mutation("any word on the DMA of ports", DEVICES, "ports[n].dma != BH_DMA_FREE", "ports[n].dma == BH_DMA_UNKNOWN", "table_test"),
    Mutation("any word on the DMA of a function", DEVICES, "function->dma != BH_DMA_FREE", "function->dma == BH_DMA_UNKNOWN", "table_test"),
    Mutation("payload over the whole pool", PAYLOAD, "pool + BH_POOL_INFO, BH_PAGE_BYTES }", "pool, BH_POOL_ARENA }", "table_test"),
    Mutation("pieces of no size", PAYLOAD, "!copy->size || !aligned(copy", "!aligned(copy", "table_test"),
    Mutation("RAM of the first span alone", "monitor/boot/table/spans_boot.c", "n < limits->board->ram.count;", "n < 1;", "table_test"),
    Mutation("a module anywhere", PAYLOAD, " || !is_ram(limits, module)", "", "table_test"),
    Mutation(
        "the last forbidden span is not looked at",
        SPANS,
        "n < spans.count",
        "n + 1 < spans.count",
        "table_test",
    ),
    Mutation("a sandbox of any number of cores", HEADER, " || sandbox->core_count > BH_MAX_SANDBOX_CORES", "", "table_test"),
    Mutation("hardware numbers with any bits", HEADER, "table->hardware_id[core] & ~limits->board->core_id_mask || ", "", "table_test"),
    Mutation(
        "hardware numbers up to everyone's",
        HEADER,
        " || table->hardware_id[core] > limits->board->core_id_greatest",
        "",
        "table_test",
    ),
    Mutation("memory is ports", DEVICES, "(!ports ||", "(true ||", "table_test"),
    Mutation(
        "the end of a span wraps",
        SPANS,
        "inner.bytes <= outer.bytes && inner.start - outer.start <= outer.bytes - inner.bytes",
        "inner.start + inner.bytes <= outer.start + outer.bytes",
        "table_test",
    ),
    Mutation(
        "level lines have vectors that others choose", DEVICES, "line->vector < limits->board->first_level_vector", "false", "table_test"
    ),
    Mutation("two sandboxes choose vectors of level lines", DEVICES, "line->sandbox != other->sandbox", "false", "table_test"),
    Mutation(
        "a pool is measured by its neighbour's size",
        SPANS,
        "table->sandboxes[sandbox].pool, table->sandboxes[sandbox].pool_bytes }",
        "table->sandboxes[sandbox].pool, table->sandboxes[0].pool_bytes }",
        "table_test",
    ),
    Mutation(
        "a sandbox writes records of DMA",
        VALIDATOR[4],
        "region->permissions != BH_PERM_READ || region->memory_type != BH_MEMORY_RAM",
        "false",
        "table_test",
    ),
    Mutation("a sandbox reads what else the IOMMU has", VALIDATOR[4], "region->hpa != faults.start ||", "", "table_test"),
    Mutation("a sandbox reads more than records of DMA", VALIDATOR[4], "|| region->size != faults.bytes", "", "table_test"),
    Mutation(
        "a pool for one core is as large as one for sixteen",
        VALIDATOR[4],
        "pool.bytes > most_pool_bytes(&table->sandboxes[n])",
        "pool.bytes > BH_MAX_POOL_BYTES",
        "table_test",
    ),
]
