# SPDX-License-Identifier: Apache-2.0
"""Mistakes in how a sandbox begins again, for the tests on the host."""

from tests.mutation.mutation import Mutation
from tests.mutation.rows_space import SNAPSHOT

RESTART = "monitor/restart.c"
WRITES = "while (from && to < stop) *to++ = *from++; for (; to < stop; to += WORDS_A_TURN) to[0] = to[1] = to[2] = to[3] = 0; "
CLEANS = "arch_cache_clean(start, (size_t)(stop - start) * sizeof(*to));"
QUIET = "quiet = (quiet || ends) && hal_partition_quiesce(core);"
LOCK = "hal/lock.c"


def lock(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, LOCK, old, new, "lock_test")


LOCKS = (
    lock("a lock serves the lowest number first", "if (after) wanted = after;"),
    lock("a lock is nobody's while others wait", "wanted & -wanted, __ATOMIC_RELEASE", "0, __ATOMIC_RELEASE"),
    lock("who has had the lock wants it for ever", "__atomic_fetch_xor(&lock->wanted, self, __ATOMIC_RELAXED);"),
    lock("a trap keeps the lock", "hal_lock_take(lock, self); arch_barrier(); hal_lock_give(lock, self);"),
    lock("a trap keeps the lock that was being given", "| __atomic_load_n(&lock->holder, __ATOMIC_RELAXED)"),
    lock("a trap keeps its place among those who wait", "__atomic_load_n(&lock->wanted, __ATOMIC_RELAXED) |"),
    lock("a trap gives what another holds", "hal_lock_take(lock, self); arch_barrier();"),
    lock("any trap waits for any lock", "__ATOMIC_RELAXED)) & self) {", "__ATOMIC_RELAXED)) | self) {"),
    lock("two hold a lock", "&& holder != self) {", "&& false) {"),
)

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
    Mutation("nothing is cleaned", RESTART, CLEANS, "", "restart_test"),
    Mutation("pieces are not cleaned", RESTART, CLEANS, "if (!from) " + CLEANS, "restart_test"),
    Mutation("zeros are not cleaned", RESTART, CLEANS, "if (from) " + CLEANS, "restart_test"),
    Mutation(
        "half a chunk is cleaned",
        RESTART,
        "(size_t)(stop - start) * sizeof(*to)",
        "(size_t)(stop - start) * sizeof(*to) / 2",
        "restart_test",
    ),
    Mutation(
        "cleaned before it is written",
        RESTART,
        WRITES + CLEANS,
        CLEANS + WRITES,
        "restart_test",
    ),
    Mutation("the first stretch of RAM alone is zeroed", RESTART, "n < snapshot->span_count", "n < 1", "restart_test"),
    Mutation("the first piece alone comes back", RESTART, "n < snapshot->piece_count", "n < 1", "restart_test"),
    Mutation(
        "kicks wait for memory",
        RESTART,
        CLEANS + " monitor_take_kicks(core, 0);",
        CLEANS,
        "restart_test",
    ),
    Mutation("devices are accessed while they are reset", RESTART, "await_devices(core, reset);", "", "restart_test"),
    Mutation(
        "kicks wait for devices", RESTART, "monitor.reset_ticks) { monitor_take_kicks(core, 0);", "monitor.reset_ticks) {", "restart_test"
    ),
    Mutation("others are not waited for", RESTART, "quiet = others_have_stopped(core, phase, since);", "quiet = true;", "restart_test"),
    Mutation("the end fails", RESTART, QUIET, QUIET.replace("(quiet || ends)", "quiet"), "restart_test"),
    Mutation("a restart goes on without the others", RESTART, QUIET, QUIET.replace("ends", "!ends"), "restart_test"),
    Mutation("devices that do not fall silent do not count", RESTART, "if (!quiet) {", "if (false) {", "restart_test"),
    Mutation(
        "a monitor that trapped leaves its devices on",
        RESTART,
        QUIET,
        "quiet = !monitor.trapped && (quiet || ends) && hal_partition_quiesce(core);",
        "restart_test",
    ),
    Mutation(
        "a restart waits for longer than its bound", RESTART, "> 2 * monitor.kick_timeout", "> 3 * monitor.kick_timeout", "restart_test"
    ),
    Mutation("the last core is not waited for", RESTART, "slot < monitor.core_count", "slot < monitor.core_count - 1", "restart_test"),
    Mutation("devices are not silenced", RESTART, QUIET, "quiet = quiet || ends;", "restart_test"),
    Mutation(
        "devices of a sandbox that has ended are not silenced",
        RESTART,
        QUIET + " if (ends) {",
        QUIET.replace("quiet || ends", "quiet && !ends") + " if (ends) {",
        "restart_test",
    ),
    Mutation(
        "a sandbox that has ended is scrubbed",
        RESTART,
        "channels_tell(core, BH_CHANNEL_GONE); return;",
        "channels_tell(core, BH_CHANNEL_GONE);",
        "restart_test",
    ),
    Mutation(
        "an end is repeated",
        RESTART,
        "if (monitor.stopped[slot] == phase) {",
        "if (slot && monitor.stopped[slot] == phase) {",
        "restart_test",
    ),
    Mutation("every core silences devices", RESTART, "if (!slot) lead(core, phase);", "lead(core, phase);", "restart_test"),
    Mutation(
        "memory is scrubbed before devices are silent",
        RESTART,
        QUIET,
        "if (quiet && !ends) restore_memory(core); " + QUIET,
        "restart_test",
    ),
    Mutation(
        "devices are silenced while another core runs",
        RESTART,
        "uint64_t since = arch_counter(), reset; bool ends",
        "uint64_t since = arch_counter() + hal_partition_quiesce(core), reset; bool ends",
        "restart_test",
    ),
    Mutation("stopped once, stopped for ever", RESTART, "__ATOMIC_ACQUIRE) != phase", "__ATOMIC_ACQUIRE) == 0", "restart_test"),
    Mutation("stopped before it is quiet", RESTART, "hal_core_quiesce(core);", "", "restart_test"),
)
