# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the sandbox kernel's scheduler: its budgets, its ranks and its decisions."""

from tests.mutation.mutation import Mutation

SPORADIC, PIBS, RANKS, SCHED = (f"kernel/sched/{name}.c" for name in ("sporadic", "pibs", "ranks", "sched"))
SIMULATOR, MODEL = "tests/unit/sched_sim.c", "tests/unit/sched_model.c"
DEADLINES, HEAP = "kernel/sched/deadlines.c", "kernel/sched/heap.c"
SCHED_FILES = [SPORADIC, PIBS, RANKS, SCHED, DEADLINES, HEAP]
SCHED_PROGRAMS = {
    f"sched_{name}_test": f"tests/unit/sched_{name}_test.c" for name in ("sporadic", "pibs", "ranks", "sim", "admission", "edf")
}
SCHED_PROGRAMS["trace_test"] = "tests/unit/trace_test.c"
SCHED_PARTS = {
    "trace_test": ["kernel/core/trace.c", "kernel/core/trace_sched.c", "tests/unit/fake_cpu.c", *SCHED_FILES],
    "sched_sporadic_test": [*SCHED_FILES, SIMULATOR],
    "sched_pibs_test": SCHED_FILES,
    "sched_edf_test": SCHED_FILES,
    "sched_ranks_test": SCHED_FILES,
    "sched_sim_test": [*SCHED_FILES, SIMULATOR, MODEL],
    "sched_admission_test": ["kernel/sched/admission.c", "tests/unit/sched_world.c", *SCHED_FILES],
}


def vector(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, SPORADIC, old, new, "sched_sporadic_test")


def replenishment(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, SPORADIC, old, new, "sched_sim_test")


def bandwidth(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, PIBS, old, new, "sched_pibs_test")


def rank(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, RANKS, old, new, "sched_ranks_test")


def descent(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, "kernel/sched/ranks.h", old, new, "sched_ranks_test")


def vcpu(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, SCHED, old, new, "sched_ranks_test")


def decision(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, SCHED, old, new, "sched_sim_test")


REPLENISHMENTS = (
    replenishment("sched: what touches the last entry is not merged", "last->at + last->amount >= at", "0"),
    vector("sched: what touches exactly is not merged", "last->at + last->amount >= at", "last->at + last->amount > at"),
    replenishment("sched: what nearly touches comes early", "last->at + last->amount >= at", "last->at + last->amount + 1 >= at"),
    replenishment(
        "sched: what is merged is lost",
        "if (last->at + last->amount >= at) { last->amount += amount;",
        "if (last->at + last->amount >= at) {",
    ),
    replenishment("sched: a list grows past its length", "server->count < server->most", "server->count < SPORADIC_MOST_ENTRIES"),
    replenishment("sched: a full list's last entry is not delayed", "last->at = at - last->amount;"),
    replenishment("sched: a full list's last entry is delayed too far", "last->at = at - last->amount;", "last->at = at;"),
    replenishment(
        "sched: a full list loses what is new", "last->at = at - last->amount; last->amount += amount;", "last->at = at - last->amount;"
    ),
    replenishment("sched: an entry used up stays", "drop_first(server); append(server, later(used.at", "append(server, later(used.at"),
    replenishment(
        "sched: an entry used up leaves after it was added",
        "drop_first(server); append(server, later(used.at, server->period), used.amount);",
        "append(server, later(used.at, server->period), used.amount); drop_first(server);",
    ),
    replenishment(
        "sched: a whole entry comes back a period after its end",
        "later(used.at, server->period), used.amount)",
        "later(used.at + used.amount, server->period), used.amount)",
    ),
    replenishment(
        "sched: a whole entry comes back a tick early",
        "later(used.at, server->period), used.amount)",
        "later(used.at, server->period - 1), used.amount)",
    ),
    replenishment(
        "sched: a piece comes back a period after its end", "later(first->at - used, server->period)", "later(first->at, server->period)"
    ),
    replenishment(
        "sched: a piece comes back a tick early", "later(first->at - used, server->period)", "later(first->at - used, server->period - 1)"
    ),
    replenishment("sched: a piece does not come back", "append(server, later(first->at - used, server->period), used);"),
    replenishment(
        "sched: what is left may be used before what was used",
        "first->at += used;\n\tappend(server, later(first->at - used",
        "append(server, later(first->at",
    ),
    replenishment("sched: a piece is not charged", "first->amount -= used;"),
    replenishment(
        "sched: an overrun is forgotten",
        "while (used >= first->amount) { used -= first->amount;",
        "while (used >= first->amount) { used = 0;",
    ),
    replenishment("sched: an overrun is charged to one entry only", "while (used >= first->amount) {", "if (used >= first->amount) {"),
    replenishment(
        "sched: an entry ends with the last tick but one", "while (used >= first->amount) {", "while (used + 1 >= first->amount) {"
    ),
    replenishment("sched: an entry is not used up exactly", "while (used >= first->amount) {", "while (used > first->amount) {"),
    replenishment(
        "sched: whole budgets cost one period",
        "__builtin_mul_overflow(used / server->budget, server->period, &delay)",
        "__builtin_mul_overflow(1, server->period, &delay)",
    ),
    replenishment("sched: a whole budget costs nothing", "delay_all(server, server->period);"),
    replenishment("sched: a whole budget delays the first entry only", "n < server->count; n++) server", "n < 1; n++) server"),
    replenishment("sched: what is beyond a whole budget is forgotten", "used -= server->budget;", "used = 0;"),
    replenishment("sched: two whole budgets cost one period", "used - server->budget >= server->budget", "false"),
    Mutation(
        "sched: a whole budget at the end of time comes back after it",
        SPORADIC,
        "|| last_of(server)->at >= SPORADIC_FAR - server->period) return",
        ") return",
        "sched_ranks_test",
    ),
    replenishment("sched: whole budgets cost nothing", "entry->at = later(entry->at, delay);"),
    replenishment("sched: whole budgets delay the first entry only", "n < server->count; n++) { struct", "n < 1; n++) { struct"),
    replenishment("sched: what is beyond whole budgets is forgotten", "sporadic_charge(server, used % server->budget) ||"),
    vector("sched: the ring has no end", "server->last = (server->last + 1) & RING_MASK;", "server->last = server->last + 1;"),
    vector("sched: a delay wraps", "delay = SPORADIC_FAR;", ";"),
    vector("sched: times wrap", "return at + span < SPORADIC_FAR ? at + span : SPORADIC_FAR;", "return at + span;"),
    replenishment(
        "sched: who wakes has saved up",
        "*first = (struct replenishment){ .at = now,",
        "*first_of(server) = (struct replenishment){ .at = first_of(server)->at,",
    ),
    replenishment("sched: who wakes merges nothing", "while (server->count > 1) {", "while (0) {"),
    replenishment("sched: who wakes merges what comes later", "if (next->at > now + amount)", "if (next->at > now + amount + 1)"),
    replenishment("sched: who wakes does not merge what touches", "if (next->at > now + amount)", "if (next->at >= now + amount)"),
    replenishment("sched: who wakes merges only what has come", "if (next->at > now + amount)", "if (next->at > now)"),
    replenishment("sched: who wakes loses what is merged", "amount += next->amount;"),
    replenishment("sched: who wakes has budget at once", "if (first->at >= now) return;"),
    vector(
        "sched: the ring has one place less",
        "(server->first + 1) & RING_MASK; server->count--;",
        "(server->first + 1) % (RING_MASK); server->count--;",
    ),
)

BANDWIDTH = (
    bandwidth(
        "sched: the time of a piece is rounded down",
        "(used * server->ticks_per_use + (1ULL << PLACES) - 1) >> PLACES",
        "(used * server->ticks_per_use) >> PLACES",
    ),
    bandwidth("sched: utilization is rounded down", "<< PLACES) + percent - 1) / percent", "<< PLACES)) / percent"),
    bandwidth("sched: long pieces wrap", "if (used >> 32)", "if (false)"),
    bandwidth("sched: endless pieces wrap", "used < SPORADIC_FAR / PIBS_PERCENT ?", "true ?"),
    bandwidth(
        "sched: long pieces are rounded down",
        "(used * PIBS_PERCENT + server->percent - 1) / server->percent",
        "used * PIBS_PERCENT / server->percent",
    ),
    bandwidth("sched: an I/O VCPU takes a longer period", "if (!idle && period >= server->period)", "if (false)"),
    bandwidth("sched: an I/O VCPU with work keeps its period", "if (!idle && period >= server->period)", "if (!idle)"),
    bandwidth("sched: an I/O VCPU keeps its shortest period", "if (!idle && period >= server->period)", "if (period >= server->period)"),
    bandwidth("sched: an I/O VCPU has saved up", "if (idle && server->at < now) server->at = now;"),
    bandwidth("sched: an I/O VCPU with work moves", "if (idle && server->at < now)", "if (server->at < now)"),
    bandwidth("sched: work that comes early runs", "if (idle && server->at < now)", "if (idle)"),
    bandwidth(
        "sched: a shorter period forgets what was used",
        "server->amount = budget_of(server) - server->used;",
        "server->amount = budget_of(server);",
    ),
    bandwidth("sched: a shorter period leaves less than nothing", "if (budget_of(server) > server->used)", "if (true)"),
    bandwidth(
        "sched: a shorter period leaves nothing, and a right to run",
        "if (budget_of(server) > server->used)",
        "if (budget_of(server) >= server->used)",
    ),
    bandwidth("sched: a piece is charged twice", "server->used = 0; server->amount", "server->amount"),
    bandwidth("sched: a piece moves no time", "server->at = span < SPORADIC_FAR - server->at ? server->at + span : SPORADIC_FAR;"),
    bandwidth("sched: the end of time wraps", "span < SPORADIC_FAR - server->at ? server->at + span : SPORADIC_FAR", "server->at + span"),
    bandwidth("sched: a piece does not fill the budget", "server->used = 0; server->amount = budget_of(server);", "server->used = 0;"),
    bandwidth("sched: only the last charge counts", "server->used += used;", "server->used = used;"),
    bandwidth("sched: an I/O VCPU's budget ends a tick late", "if (used < server->amount)", "if (used <= server->amount)"),
    bandwidth("sched: an I/O VCPU's budget is not charged", "server->amount -= used;"),
    bandwidth("sched: an I/O VCPU's budget has no end", "pibs_end(server); return true;", "return true;"),
)

RANK_ROWS = (
    rank(
        "sched: a tree keeps its root",
        "for (unsigned node = 1; node < 2 * ranks->leaves; node++)",
        "for (unsigned node = 2; node < 2 * ranks->leaves; node++)",
    ),
    rank("sched: a tree keeps its last leaf", "node < 2 * ranks->leaves; node++)", "node < 2 * ranks->leaves - 1; node++)"),
    rank("sched: the way up ends too early", "if (before > least)", "if (before >= least)"),
    rank("sched: the way up never begins", "for (; node > 3; node /= 4)", "for (; node > 2 * ranks->leaves; node /= 4)"),
    rank("sched: a node is its first child", "ranks_lesser(ranks_lesser(four[0], four[1]), ranks_lesser(four[2], four[3]))", "four[0]"),
    rank("sched: a node has three children", "ranks_lesser(four[2], four[3])", "four[2]"),
    rank("sched: a root of two is its first child", "ranks_lesser(earliest[2], earliest[3])", "earliest[2]"),
    rank("sched: all roots have four", "begins_with_two(ranks->leaves) ? 2 :", "false ? 2 :"),
    rank("sched: a single leaf has four", "ranks->leaves > 1 ? 4 : 1;", "4;"),
    descent("sched: who may run now may not", "(at = earliest[node]) > limit; node++)", "(at = earliest[node]) >= limit; node++)"),
    descent("sched: nobody may run now", "if (at > limit)", "if (at >= limit)"),
    descent("sched: only the last one before may come", "least = ranks_lesser(least, at);", "least = at;"),
    descent("sched: nobody before comes", "least = ranks_lesser(least, at);", ";"),
    descent("sched: the way down ends too early", "if (node >= ranks->leaves) break;", "if (4 * node >= ranks->leaves) break;"),
    descent("sched: nobody comes to an idle core", "*next = at; return", "return"),
)

VCPUS = (
    vcpu("sched: equal periods: the last one made comes first", "order > vcpu->order; rank--)", "order >= vcpu->order; rank--)"),
    vcpu("sched: a rank too many", "if (rank == core->foregrounds.leaves)", "if (false)"),
    vcpu("sched: a rank too few", "if (rank == core->foregrounds.leaves)", "if (rank + 1 == core->foregrounds.leaves)"),
    vcpu("sched: ranks do not move up", "core->by_rank[rank - 1], rank);", "core->by_rank[rank - 1], rank - 1);"),
    vcpu(
        "sched: what is ready does not move with its rank", "if (!core->by_deadline) update(core, vcpu); update_background(core, vcpu);", ""
    ),
    vcpu("sched: the rank of who is removed is left ready", "ranks_set(&core->foregrounds, core->count, RANKS_NEVER);"),
    vcpu("sched: the rank of who is removed is left in the background", "bits_remove(&core->backgrounds, core->count);"),
    vcpu("sched: any period", "period > 0 && period <= SPORADIC_MOST_TICKS", "period > 0"),
    vcpu("sched: budget 0", "budget == 0 || budget > period", "budget > period"),
    vcpu("sched: budget above the period", "budget == 0 || budget > period", "budget == 0"),
    vcpu("sched: a list of one", "entries < SPORADIC_LEAST_ENTRIES ||", ""),
    vcpu("sched: a list longer than there is room for", "|| entries > SPORADIC_MOST_ENTRIES"),
    vcpu("sched: more than all percent", "percent > PIBS_PERCENT ||", ""),
    vcpu("sched: a percentage of nothing", "|| period * percent / PIBS_PERCENT == 0"),
    vcpu("sched: everybody runs without budget", "if (vcpu->ready && !vcpu->foreground_only)", "if (vcpu->ready)"),
    vcpu("sched: nobody runs without budget", "if (vcpu->ready && !vcpu->foreground_only)", "if (false)"),
)

DECISIONS = (
    decision("sched: time is charged again", "core->since = now; if (!used", "if (!used"),
    decision("sched: time without budget is charged", "vcpu->background += used; return false;", "vcpu->background += used;"),
    decision("sched: time without budget is not counted", "vcpu->background += used;"),
    decision("sched: what was given is not counted", "vcpu->given += used;"),
    decision("sched: who runs is not charged", "!sporadic_charge(&vcpu->main, used)", "used < sporadic_left(&vcpu->main)"),
    decision("sched: I/O is not charged", "pibs_charge(&vcpu->io, used);", ";"),
    decision("sched: who was charged is as early as before", "if (charge(core, now)) update(core, ran);", "charge(core, now);"),
    decision(
        "sched: who is preempted is not charged",
        "if (charge(core, now)) update",
        "if ((!core->running || now >= core->until) && charge(core, now)) update",
    ),
    decision(
        "sched: work for who runs: charged by what it used before",
        "if (vcpu == core->running) charge_now(core, now); if (vcpu->kind == VCPU_IO) pibs_wake",
        "if (vcpu->kind == VCPU_IO) pibs_wake",
    ),
    decision(
        "sched: who is idle is charged afterwards",
        "if (vcpu == core->running) charge(core, now); if (vcpu->kind == VCPU_IO) pibs_end",
        "if (vcpu->kind == VCPU_IO) pibs_end",
    ),
    decision("sched: a piece of I/O does not end", "if (vcpu->kind == VCPU_IO) pibs_end(&vcpu->io);"),
    decision("sched: who wakes is as it was", "else if (!vcpu->ready) wake_main(vcpu, now);"),
    Mutation("sched: who is ready wakes again", SCHED, "else if (!vcpu->ready) wake_main", "else wake_main", "sched_sporadic_test"),
    decision("sched: all work of I/O comes to who is idle", "!vcpu->ready, now); else", "true, now); else"),
    decision("sched: who is idle stays ready", "vcpu->ready = false;"),
    decision("sched: who is idle keeps its turn", "vcpu->ready = false; leave_place(core, vcpu);", "vcpu->ready = false;"),
    decision("sched: who wakes gets no turn", "vcpu->ready = true; take_place(core, vcpu);", "vcpu->ready = true;"),
    decision("sched: nobody runs without budget, though it may", "if (core->backgrounds.filled) return", "if (false) return"),
    decision(
        "sched: who runs in the background is told not to",
        "core->foreground = first;",
        "core->foreground = true;",
    ),
    decision("sched: budgets do not end", "end = end_of_budget(core, since);", "end = SCHED_NEVER;"),
    decision(
        "sched: budgets end a tick late",
        "end = end_of_budget(core, since);",
        "end = end_of_budget(core, since) + 1;",
    ),
    decision(
        "sched: budgets end a tick early",
        "end = end_of_budget(core, since);",
        "end = end_of_budget(core, since) - 1;",
    ),
    decision(
        "sched: who comes before does not interrupt",
        "core->foreground = first;",
        "core->foreground = first; if (first) core->next = SCHED_NEVER;",
    ),
    decision(
        "sched: budgets end after others come",
        "if (core->foreground) { end",
        "if (core->foreground && core->next == SCHED_NEVER) { end",
    ),
    decision(
        "sched: who comes before does not come before the budget's end",
        "uint64_t until = core->next, end;",
        "uint64_t until = SCHED_NEVER, end;",
    ),
    decision(
        "sched: what runs without budget ends with one",
        "if (core->foreground) { end",
        "if (core->running) { end",
    ),
    decision("alone: it is not ready", "vcpu->ready = true; core->alone = vcpu;", "core->alone = vcpu;"),
    decision("alone: it wakes as it was", "core->elsewhere = true; sporadic_wake(&vcpu->main, now);", "core->elsewhere = true;"),
    decision("alone: it is sought among others", "core->elsewhere = true; sporadic_wake", "sporadic_wake"),
    decision("alone: where another one is", "!core->elsewhere && vcpu->kind", "vcpu->kind"),
    Mutation("alone: an I/O VCPU", SCHED, "vcpu->kind == VCPU_MAIN && ranks_are_empty", "ranks_are_empty", "sched_pibs_test"),
    decision("alone: where others are ready", " && ranks_are_empty(&core->foregrounds);", ";"),
    decision("alone: where one has run", "return !core->running && !core->elsewhere", "return !core->elsewhere"),
    decision("alone: others come in its place", "core->elsewhere = false; update_all(core, vcpu);", "core->elsewhere = false;"),
    decision(
        "alone: it still is when others come",
        "core->alone = NULL; core->elsewhere = false; update_all",
        "core->elsewhere = false; update_all",
    ),
    decision("alone: others stand nowhere", "core->alone = NULL; core->elsewhere = false; update_all", "core->alone = NULL; update_all"),
    decision("alone: who sleeps runs", "if (vcpu != core->alone) { update_all", "if (true) { update_all"),
    decision("alone: with no budget left", "return at > now ? NULL : core->alone;", "return core->alone;"),
    decision("alone: its budget does not come back", "core->next = at > now ? at : SCHED_NEVER;", "core->next = SCHED_NEVER;"),
    decision("alone: its budget comes back at once", "core->next = at > now ? at : SCHED_NEVER;", "core->next = at;"),
    decision("alone: it runs without budget all the same", " && !core->alone->foreground_only ?", " ?"),
    decision("alone: it does not run without budget", "core->alone && !core->alone->foreground_only ?", "false ?"),
    decision("alone: it begins before its budget does", " && sporadic_next(&alone->main) <= now)", ")"),
    decision("alone: it is charged for who was idle", "core->since = now; if (alone", "if (alone"),
    decision("alone: others come when they would have", "core->next = SCHED_NEVER; core->foreground", "core->foreground"),
    decision("alone: it has its budget for nothing", "core->foreground = true; core->running = vcpu;", "core->running = vcpu;"),
    decision("alone: it does not begin", "core->foreground = true; core->running = vcpu;", "core->foreground = true;"),
    decision("alone: its budget does not end", "core->until = now + sporadic_left(&vcpu->main);", "core->until = SCHED_NEVER;"),
)

INTERRUPT_ROWS = (
    vcpu("sched: interrupts are charged to who runs", "core->since += ticks; if (owes)", "if (owes)"),
    vcpu("sched: nobody owes an interrupt", "owes->owed += ticks;"),
    vcpu("sched: who owes is not charged", "take(core, vcpu, used + debt_of(vcpu), now);", "(debt_of(vcpu), take(core, vcpu, used, now));"),
    vcpu("sched: who owes is charged for ever", "vcpu->owed = 0;"),
    vcpu("sched: who runs without budget pays", "vcpu->background += used;", "vcpu->background += used + debt_of(vcpu);"),
    vcpu("sched: what was charged in an interrupt is charged twice", "(from > core->since ? from : core->since)", "from"),
    vcpu(
        "sched: an interrupt leaves the time of the decision", "owes->owed += ticks; set_until(core, core->since);", "owes->owed += ticks;"
    ),
    vcpu(
        "sched: an interrupt delays who comes before",
        "until = end < until ? end : until;",
        "until = end - core->since < until - core->since ? end : until;",
    ),
    vcpu("sched: spent a tick late", "end_of_budget(core, core->since) <= now);", "end_of_budget(core, core->since) < now);"),
    vcpu("sched: who was charged for all is not spent", "(next_of(core->running) > now || end_of_budget", "(end_of_budget"),
    vcpu("sched: who owes has all that is left", "since + (owed < left ? left - owed : 0);", "since + left;"),
    vcpu("sched: who owes too much has endless time", "(owed < left ? left - owed : 0)", "left - owed"),
    vcpu("sched: who owes all that it has runs", "if (first && first->owed) first = first_that_can_pay(core, first, now);"),
    vcpu("sched: who owes exactly what it has runs", "first->owed >= left_of(first)", "first->owed > left_of(first)"),
    vcpu("sched: who owes less than it has does not run", "first->owed >= left_of(first)", "first->owed"),
    vcpu("sched: who owes all that it has does not pay", "take(core, first, debt_of(first), now);", "core->next = now + left_of(first);"),
    vcpu("sched: who has paid comes as early as before", "update(core, first); first = first_with", "first = first_with"),
    vcpu("sched: after who has paid nobody comes", "first = first_with_budget(core, now); } return", "first = NULL; } return"),
    vcpu("sched: only one has to pay", "while (first && first->owed >=", "if (first && first->owed >="),
    vcpu("sched: who runs owes what is its own time", "if (owes && owes == core->running && core->foreground) return;"),
    vcpu("sched: others' time is that of who runs", "owes && owes == core->running && core->foreground", "owes && core->foreground"),
    vcpu(
        "sched: who runs without budget owes nothing", "owes == core->running && core->foreground) return", "owes == core->running) return"
    ),
    vcpu("sched: who is removed runs", "core->running = NULL; core->foreground = false;", ""),
    vcpu(
        "sched: I/O moves with who it serves",
        "core->by_rank[rank - 1]->order > vcpu->order",
        "period_of(core->by_rank[rank - 1]) > vcpu->order",
    ),
)


def deadline(what: str, file: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"sched: {what}", file, old, new, "sched_edf_test")


DEADLINE_ROWS = (
    deadline("by deadline: who may not yet, may", DEADLINES, "first->key <= now)", "first->key <= now + 1)"),
    deadline("by deadline: who may, may not yet", DEADLINES, "first->key <= now)", "first->key < now)"),
    deadline("by deadline: nobody else will come", DEADLINES, "*next = first ? first->key : UINT64_MAX;", "*next = UINT64_MAX;"),
    deadline("by deadline: by time of replenishment", DEADLINES, "turn->deadline);\n", "turn->node.key);\n"),
    deadline("by deadline: who sleeps has a turn", DEADLINES, "if (turn->in) heap_remove(turn->in, &turn->node);"),
    deadline("by deadline: a deadline at once", SCHED, "sporadic_next(&vcpu->main) + vcpu->main.period;", "sporadic_next(&vcpu->main);"),
    deadline(
        "by deadline: who wakes has an old one",
        SCHED,
        "sporadic_wake(&vcpu->main, now); set_deadline(vcpu);",
        "sporadic_wake(&vcpu->main, now);",
    ),
    deadline(
        "by deadline: a new budget has an old one",
        SCHED,
        "set_deadline(vcpu); return true;",
        "return true;",
    ),
    deadline(
        "by deadline: what is left gets a new one",
        SCHED,
        "if (!sporadic_charge(&vcpu->main, used)) return sporadic_next(&vcpu->main) > now;",
        "sporadic_charge(&vcpu->main, used);",
    ),
    deadline(
        "by deadline: a budget that comes when the last one ends is that one",
        SCHED,
        "if (!sporadic_charge(&vcpu->main, used)) return",
        "uint64_t rest = sporadic_next(&vcpu->main) + used; sporadic_charge(&vcpu->main, used); "
        "if (sporadic_next(&vcpu->main) == rest) return",
    ),
    deadline(
        "by deadline: who has a new one at once stands where it stood",
        SCHED,
        "set_deadline(vcpu); return true;",
        "set_deadline(vcpu); return sporadic_next(&vcpu->main) > now;",
    ),
    deadline("by deadline: what is used up exactly has an old one", SPORADIC, "= used >= first->amount;", "= used > first->amount;"),
    deadline("by deadline: what many budgets use up has an old one", SPORADIC, "budget) || used >= server->budget;", "budget);"),
    deadline("by deadline: I/O is taken", SCHED, "core->by_deadline || !is_period(period)", "!is_period(period)"),
)

ADMIT, VCPUS_MADE = "kernel/core/admit.c", "kernel/core/vcpus.c"
SCHED_PROGRAMS |= {f"kernel_{name}_test": f"tests/unit/kernel_{name}_test.c" for name in ("admit", "rate")}
SCHED_PARTS |= {"kernel_admit_test": [ADMIT, "kernel/core/clock.c", "tests/unit/fake_cpu.c"], "kernel_rate_test": []}


def admission(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"admit: {what}", ADMIT, old, new, "kernel_admit_test")


def made(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"vcpus: {what}", VCPUS_MADE, old, new, "kernel_vcpus_test")


ADMISSION_ROWS = (
    admission("lines count on every core", "(cpu_slot() == 0 ? 1 + rung_count + line_count : 0)", "(1 + rung_count + line_count)"),
    admission("the heartbeat does not count", "note_top_half(again_count, heartbeat_distance());"),
    admission("by deadline the heartbeat does not count", "cpu_slot() == 0 ? 1", "cpu_slot() == 0 && !thread_is_by_deadline() ? 1"),
    admission(
        "a line is the heartbeat",
        "top_halves[again_count + 1 + rung_count + line_count++] = asked->line;",
        "top_halves[line_count++] = asked->line;",
    ),
    admission("a heartbeat takes a switch", "clock_from_ns(admit_top_half_ns())", "clock_from_ns(admit_switch_ns())"),
    admission("every platform is fast", "clock_from_ns(admit_switch_ns())", "clock_from_ns(BH_VCPU_SWITCH_NS)"),
    admission("every platform has a fast heartbeat", "clock_from_ns(admit_top_half_ns())", "clock_from_ns(BH_VCPU_TOP_HALF_NS)"),
    admission("a platform that says nothing switches in no time", "clock_from_ns(admit_switch_ns())", "clock_from_ns(info->switch_ns)"),
    admission("a platform that says nothing beats in no time", "clock_from_ns(admit_top_half_ns())", "clock_from_ns(info->top_half_ns)"),
    admission("a wrong distance is a VCPU's", "result != ADMISSION_E_DISTANCE && result", "result"),
    admission("a wrong cost is a VCPU's", "result != ADMISSION_E_COST && result", "result"),
    admission("a count is a VCPU's", "&& result != ADMISSION_E_COUNT;", ";"),
    admission("who is there is not blocked", ", .blocking = on->blocking };", "};"),
    admission("who is new is not blocked", ".blocking = asked->blocking, };", "};"),
    admission("what blocks is forgotten", "on->blocking = asked->blocking;"),
    admission("who changes is blocked no more", "other.blocking = on->blocking;"),
    admission("a top half has a VCPU's name", "is_about_a_vcpu(refusal->result) && "),
    admission("by deadline somebody is at fault for the sum", "&& !is_everybodys(&set, refusal) ? names", "? names"),
    admission(
        "by deadline nobody is late",
        "refusal->result == ADMISSION_E_LOAD && !refusal->report.deadline",
        "refusal->result == ADMISSION_E_LOAD",
    ),
    admission(
        "an I/O VCPU has the period of whom it serves",
        ".period = vcpu->order,",
        ".period = vcpu->kind == VCPU_MAIN ? vcpu->main.period : vcpu->io.period,",
    ),
    admission("a new one comes before those with its period", "all[at - 1].period > asked->period", "all[at - 1].period >= asked->period"),
    admission("names stay where they were", "names[at] = names[at - 1];"),
    admission("by deadline as by rank", ".edf = thread_is_by_deadline(),"),
    admission("switches take no time", ".switch_cost = clock_from_ns(admit_switch_ns()),"),
    admission("nothing would fit", "refusal->fits = admission_fit(&set, new);"),
    admission("what has no sense is a load", "refusal->result != ADMISSION_E_LOAD && refusal->result != ADMISSION_E_UNDECIDED", "false"),
    admission("what is not decided has no sense", " && refusal->result != ADMISSION_E_UNDECIDED"),
    admission("the first is late", "names[refusal->report.which]", "names[0]"),
    admission("a full core is asked for", "if (count == ADMISSION_MOST_VCPUS || (", "if (("),
    admission("who changes counts twice", " || on == leaving"),
    admission("who has changed counts no more", "leaving = NULL;"),
    admission("a refused change is made", "if (result == THREAD_OK) result = thread_change_vcpu", "result = thread_change_vcpu"),
    admission("a refused one is made", "if (result == THREAD_OK) result = make(on, asked);", "result = make(on, asked);"),
    admission("a refused line counts", "if (result != THREAD_OK) line_count = lines;"),
    admission(
        "a line counts without its VCPU",
        "result = make(on, asked); if (result != THREAD_OK)",
        "result = make(on, asked); if (refusal->result)",
    ),
    admission("lines without end", " || (asked->line.cost && lines == LINES)"),
    admission("nobody comes after as many lines", "(asked->line.cost && lines == LINES)", "lines == LINES"),
    admission("nobody else may ask afterwards", "atomic_flag_clear_explicit(&asking, memory_order_release);"),
    admission("two ask at once", "while (atomic_flag_test_and_set_explicit(&asking, memory_order_acquire))", "while (false)"),
)

MADE_ROWS = (
    made("other cores' are made here", "if ((grant->flags & BH_VCPU_CORE) != cpu_slot()) return;"),
    made("I/O VCPUs are Main VCPUs", ".kind = grant->vector ? VCPU_IO : VCPU_MAIN,", ".kind = VCPU_MAIN,"),
    made("shares are lost", ".percent = grant->vector,"),
    made("who may not run without budget does", "made->vcpu.vcpu.foreground_only = asked->foreground_only;"),
    made(
        "a refused line is limited",
        "if (result != THREAD_OK) return result; count_one(this_room()); if (asked->vcpu.line.cost) console_limit(asked->vcpu.line.distance);",
        "if (asked->vcpu.line.cost) console_limit(asked->vcpu.line.distance); if (result != THREAD_OK) return result; count_one(this_room());",
    ),
    made("a line is not limited", "if (asked->vcpu.line.cost) console_limit(asked->vcpu.line.distance);"),
    made("every line is limited", "if (asked->vcpu.line.cost) console_limit", "console_limit"),
    made("a Main VCPU's budget is a rate", "if (!grant->vector || !grant->gpa)", "if (!grant->gpa)"),
    made("top halves take no time", "clock_from_ns(admit_top_half_ns())", "0"),
    made("every platform has fast top halves", "clock_from_ns(admit_top_half_ns())", "clock_from_ns(BH_VCPU_TOP_HALF_NS)"),
    made("no numbers", "if (result == THREAD_E_LOAD) vcpus_say_refused(&asked->vcpu, &refusal);"),
    made("the first core's programs run anywhere", "if (asked->program->first_core_only && cpu_slot())", "if (false)"),
    made(
        "the first core's programs run nowhere",
        "if (asked->program->first_core_only && cpu_slot())",
        "if (asked->program->first_core_only)",
    ),
    made("deadlines are ranks", "if (!thread_is_by_deadline())", "if (true)"),
    made("ranks are deadlines", "if (!thread_is_by_deadline())", "if (false)"),
    made("a sum has a time", "else if (report->response > report->deadline)", "else if (true)"),
    made("percentages are times", "if (asked->kind == VCPU_MAIN) console_say(", "if (true) console_say("),
    made("a VCPU has no thread", "stack ? make_with(stack, made, asked) : THREAD_E_NOMEM", "make_with(stack, made, asked)"),
    made("who is refused keeps a stack", "stacks_give(stack);", ";"),
    made("a place is given twice", "count_one(this_room());"),
    made("more than there is room for", "room->count == MOST", "false"),
    made("more rows than there are", "n < info->grant_count && n < BH_MAX_GRANTS", "n < info->grant_count"),
    made("by rank, whatever was asked for", "if (grant->flags & BH_VCPU_EDF) thread_schedule_by_deadline();"),
)

SCHEDULER = (
    *DEADLINE_ROWS,
    *REPLENISHMENTS,
    *BANDWIDTH,
    *RANK_ROWS,
    *VCPUS,
    *DECISIONS,
    *INTERRUPT_ROWS,
    *ADMISSION_ROWS,
    *MADE_ROWS,
)
