# SPDX-License-Identifier: Apache-2.0
"""Mistakes in how a sandbox begins again, for the tests on the host."""

from tests.mutation.mutation import Mutation
from tests.mutation.rows_space import SNAPSHOT

RESTART = "monitor/restart.c"

LIVES = (
    Mutation(
        "the boot snapshot is not published",
        SNAPSHOT,
        "arch_cache_publish((const void *)(uintptr_t)sandbox->snapshot, sandbox->snapshot_bytes);",
        "",
        "restart_test",
    ),
    Mutation(
        "published before it is written",
        SNAPSHOT,
        "keep_pieces(table, index, snapshot); build->snapshot = snapshot;"
        " arch_cache_publish((const void *)(uintptr_t)sandbox->snapshot, sandbox->snapshot_bytes);",
        "arch_cache_publish((void *)sandbox->snapshot, sandbox->snapshot_bytes); keep_pieces(table, index, snapshot);"
        " build->snapshot = snapshot;",
        "restart_test",
    ),
    Mutation("others' memory is kept", SNAPSHOT, "if (piece->sandbox != index)", "if (false)", "restart_test"),
    Mutation("others' memory is zeroed", SNAPSHOT, "region->sandbox != index ||", "", "restart_test"),
    Mutation("pools are zeroed", SNAPSHOT, "|| region->kind != BH_REGION_RAM", "", "restart_test"),
    Mutation("nothing is cleaned", RESTART, "arch_cache_clean(to, chunk);", "", "restart_test"),
    Mutation("pieces are not cleaned", RESTART, "arch_cache_clean(to, chunk);", "if (!from) arch_cache_clean(to, chunk);", "restart_test"),
    Mutation("zeros are not cleaned", RESTART, "arch_cache_clean(to, chunk);", "if (from) arch_cache_clean(to, chunk);", "restart_test"),
    Mutation("half a chunk is cleaned", RESTART, "arch_cache_clean(to, chunk);", "arch_cache_clean(to, chunk / 2);", "restart_test"),
    Mutation(
        "cleaned before it is written",
        RESTART,
        "if (from) copy(to, to + chunk / sizeof(*to), words_at(from + done));"
        " else zero(to, to + chunk / sizeof(*to)); arch_cache_clean(to, chunk);",
        "arch_cache_clean(to, chunk); if (from) copy(to, to + chunk / sizeof(*to), words_at(from + done));"
        " else zero(to, to + chunk / sizeof(*to));",
        "restart_test",
    ),
    Mutation("the first stretch of RAM alone is zeroed", RESTART, "n < snapshot->span_count", "n < 1", "restart_test"),
    Mutation("the first piece alone comes back", RESTART, "n < snapshot->piece_count", "n < 1", "restart_test"),
    Mutation(
        "kicks wait for memory",
        RESTART,
        "arch_cache_clean(to, chunk); monitor_take_kicks(core, 0);",
        "arch_cache_clean(to, chunk);",
        "restart_test",
    ),
    Mutation("others are not waited for", RESTART, "if (!others_have_stopped(core, phase, since))", "if (false)", "restart_test"),
    Mutation("devices are not silenced", RESTART, "hal_partition_quiesce(core);", "", "restart_test"),
    Mutation(
        "memory is scrubbed before devices are silent",
        RESTART,
        "hal_partition_quiesce(core); restore_memory(core);",
        "restore_memory(core); hal_partition_quiesce(core);",
        "restart_test",
    ),
    Mutation(
        "devices are silenced while another core runs",
        RESTART,
        "if (!others_have_stopped(core, phase, since))",
        "hal_partition_quiesce(core); if (!others_have_stopped(core, phase, since))",
        "restart_test",
    ),
    Mutation("stopped once, stopped for ever", RESTART, "__ATOMIC_ACQUIRE) != phase", "__ATOMIC_ACQUIRE) == 0", "restart_test"),
    Mutation("stopped before it is quiet", RESTART, "hal_core_quiesce(core);", "", "restart_test"),
)
