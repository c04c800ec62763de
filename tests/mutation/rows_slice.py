# SPDX-License-Identifier: Apache-2.0
"""Mistakes in slices of the sandbox kernel's VCPUs."""

from tests.mutation.mutation import Mutation
from tests.mutation.rows_sync import THREAD

SLICE = "kernel/core/thread_slice.c"


def cut(what: str, old: str, new: str = "", file: str = SLICE) -> Mutation:
    return Mutation(f"slices: {what}", file, old, new, "kernel_slice_test")


SETTING = (
    cut("a VCPU of another core", "on->core != cpu_slot() ||"),
    cut("one without end", "ticks > SPORADIC_MOST_TICKS ||"),
    cut("one shorter than a switch", "|| (ticks && ticks < clock_from_ns(admit_switch_ns()))"),
    cut("one cannot be taken back", "(ticks && ticks <", "(ticks <"),
    cut("only that of the first by rank counts", "rank++;", "return false;"),
    cut("no VCPU has one", "return rank < sched->count; }", "return false; }"),
    cut("one begins with the next switch", "thread_renew_slices(); thread_reschedule();", "thread_renew_slices();"),
    cut("the scheduler is asked later", ".whose = NULL }; core->decide = true;", ".whose = NULL };", THREAD),
    cut("who runs has none from what he ran before", "core->slice = (struct slice){ .whose = NULL };", "", THREAD),
)

USING = (
    cut("a core decides once", "core->decide = true; return slice_decide", "return slice_decide", THREAD),
    cut(
        "nobody looks for their ends",
        "core->has_slices ? until_by_slice(core) : core->sched.until",
        "core->sched.until",
        THREAD,
    ),
    cut("what runs without budget does not count", "on->vcpu.given + on->vcpu.background", "on->vcpu.given"),
    cut("what runs with budget does not count", "on->vcpu.given + on->vcpu.background", "on->vcpu.background"),
    cut("a turn is not over with a sleep", "thread->ready && thread->on->first", "thread->on->first"),
    cut("a turn is not over with a yield", "thread->ready && thread->on->first[thread->level] == thread", "thread->ready"),
    cut("what was run is forgotten", "? thread->ran + ticks : 0", "? ticks : 0"),
    cut("who was not the first any more goes on with his", "is_first(thread) ? thread->ran + ticks : 0", "thread->ran + ticks"),
    cut("a slice is a tick longer", "thread->ran < thread->on->slice", "thread->ran <= thread->on->slice"),
    cut("only the first slice is a whole one", "return; thread->ran = 0;", "return;"),
    cut("the next does not go on", "thread->on->first[thread->level] = thread->next;"),
    cut("all that a VCPU ever had is one turn's", "slice->from = charged(on);"),
    cut("who is alone is interrupted", "thread->next == thread ? SCHED_NEVER :"),
    cut("who was interrupted has a whole one", "now + thread->on->slice - thread->ran", "now + thread->on->slice"),
    cut("nobody's turn is counted", "if (slice->whose) count(", "if (false) count("),
    cut("a VCPU without one has one of 0", "if (!on || !on->slice) return", "if (!on) return"),
    cut("a core that is idle has one", "if (!on || !on->slice) return", "if (!on->slice) return"),
    cut("a budget does not end", "if (end >= sched->until) return sched->until;"),
    cut("nobody pays", "slice->pays = &on->vcpu;"),
    cut("what was had of another slice counts", "forget_all(on);"),
    cut("nobody is told who pays", "if (core->slice.pays) return core->slice.pays;", "", THREAD),
    cut("a slice's end pays for all", "if (pays) pay(core, pays);", "if (pays) core->cause = pays;", THREAD),
    cut("who comes back goes on with his", "thread->ran = 0; if (slice->whose == thread)", "if (slice->whose == thread)"),
    cut("who has gone runs on", "if (slice->whose == thread) slice->whose = NULL;"),
    cut(
        "who moves, or begins again, takes his along",
        "slice_forget(&core->slice, thread); if (!thread->ready)",
        "if (!thread->ready)",
        THREAD,
    ),
)

SLICES = (*SETTING, *USING)
