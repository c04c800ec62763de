# SPDX-License-Identifier: Apache-2.0
"""Mistakes in what VCPUs owe for interrupts, which the simulation of random sets has to notice, whatever else does."""

from tests.mutation.mutation import Mutation
from tests.mutation.rows_sched import SCHED


def debt(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"debts: {what}", SCHED, old, new, "sched_sim_test")


DEBTS = (
    debt("the timer is set without them", "end = end_of_budget(core, since);", "end = since + left_of(core->running);"),
    debt("spent without them", "end_of_budget(core, core->since) <= now);", "core->since + left_of(core->running) <= now);"),
    debt("who owes all that it has runs", "if (first && first->owed) first = first_that_can_pay(core, first, now);"),
    debt("who owes exactly what it has runs", "first->owed >= left_of(first)", "first->owed > left_of(first)"),
    debt("who owes less than it has does not run", "first->owed >= left_of(first)", "first->owed"),
    debt("only one has to pay", "while (first && first->owed >=", "if (first && first->owed >="),
    debt("who has paid comes as early as before", "update(core, first); first = first_with", "first = first_with"),
    debt(
        "remitted when he wakes",
        "sporadic_wake(&vcpu->main, now); set_deadline",
        "vcpu->owed = 0; sporadic_wake(&vcpu->main, now); set_deadline",
    ),
    debt("remitted when he sleeps", "vcpu->ready = false; leave_place", "vcpu->owed = 0; vcpu->ready = false; leave_place"),
    debt("remitted when he runs", "take(core, vcpu, used + debt_of(vcpu), now);", "(debt_of(vcpu), take(core, vcpu, used, now));"),
    debt("who begins alone owes nothing", "alone && !alone->owed &&", "alone &&"),
    debt("charged for ever", "vcpu->owed = 0;"),
    debt("paid without budget", "vcpu->background += used;", "vcpu->background += used + debt_of(vcpu);"),
    debt(
        "counted as given, and not charged",
        "take(core, vcpu, used + debt_of(vcpu), now);",
        "(vcpu->given += debt_of(vcpu), take(core, vcpu, used, now));",
    ),
    debt("nobody owes an interrupt", "owes->owed += ticks;"),
    debt("an interrupt is owed but for a tick", "owes->owed += ticks;", "owes->owed += ticks - 1;"),
    debt("the last interrupt is owed alone", "owes->owed += ticks;", "owes->owed = ticks;"),
    debt("an interrupt is his who was running", "core->since += ticks; if (owes)", "if (owes)"),
    debt("what ran before an interrupt is nobody's", "core->since += ticks; if (owes)", "core->since = to; if (owes)"),
    debt("an interrupt leaves the time of the decision", "owes->owed += ticks; set_until(core, core->since);", "owes->owed += ticks;"),
    debt("who runs owes what is his own time", "if (owes && owes == core->running && core->foreground) return;"),
    debt("others' time is his who runs", "owes && owes == core->running && core->foreground", "owes && core->foreground"),
    debt("who runs without budget owes nothing", "owes == core->running && core->foreground) return", "owes == core->running) return"),
)
