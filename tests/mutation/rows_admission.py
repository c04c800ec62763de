# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the analysis by which VCPUs are admitted (docs/admission.md), and in traces."""

from tests.mutation.mutation import Mutation
from tests.mutation.rows_sched import SCHED_FILES

ADMISSION = "kernel/sched/admission.c"
EDGE_PROGRAMS = {"sched_edges_test": "tests/unit/sched_edges_test.c"}
TRACE, TRACE_SCHED = "kernel/core/trace.c", "kernel/core/trace_sched.c"
EDGE_PARTS = {"sched_edges_test": [ADMISSION, TRACE, TRACE_SCHED, "tests/unit/fake_cpu.c", *SCHED_FILES]}


def analysis(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"admission: {what}", ADMISSION, old, new, "sched_admission_test")


def edge(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"admission: {what}", ADMISSION, old, new, "sched_edges_test")


def record(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"trace: {what}", TRACE, old, new, "trace_test")


def budget(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"trace: {what}", TRACE_SCHED, old, new, "sched_edges_test")


def decision(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"trace: {what}", TRACE_SCHED, old, new, "trace_test")


INPUT = (
    analysis("period 0", "vcpu->period == 0 || "),
    analysis("any period", "vcpu->period > ADMISSION_MOST_TICKS", "false"),
    analysis("no percent", "(vcpu->percent == 0 ||", "("),
    analysis("more than all percent", "vcpu->percent > PIBS_PERCENT)", "false)"),
    analysis("budget 0", "budget_of(vcpu) == 0 || "),
    analysis("budget above the period", "|| budget_of(vcpu) > vcpu->period)", ")"),
    analysis("less than a switch", "if (budget_of(vcpu) < switch_cost) return ADMISSION_E_SWITCH;"),
    analysis("a switch exactly is too little", "if (budget_of(vcpu) < switch_cost)", "if (budget_of(vcpu) <= switch_cost)"),
    analysis("any blocking", "return vcpu->blocking > ADMISSION_MOST_TICKS ? ADMISSION_E_BLOCKING : ADMISSION_OK;", "return ADMISSION_OK;"),
    analysis("distance 0", "one->distance == 0 || "),
    analysis("any distance", "|| one->distance > ADMISSION_MOST_TICKS)", ")"),
    analysis("top halves for nothing", "one->cost == 0 || "),
    analysis("top halves without end", "|| one->cost > one->distance ?", "?"),
    analysis("too many VCPUs", "set->vcpu_count > ADMISSION_MOST_VCPUS ||", ""),
    analysis("too many top halves", "|| set->top_half_count > ADMISSION_MOST_TOP_HALVES)", ")"),
    analysis("I/O VCPUs by deadline", "if (!result && set->edf && set->vcpus[n].kind == VCPU_IO) return ADMISSION_E_EDF_IO;"),
    analysis("which top half is wrong is not said", "*which = n; result = check_top_half", "result = check_top_half"),
    analysis("which VCPU is wrong is not said", "*which = n; result = check_vcpu", "result = check_vcpu"),
    analysis(
        "an error leaves a report", "if (result) { report->which", "*report = (struct admission_report){ 0 }; if (result) { report->which"
    ),
)

TERMS = (
    analysis(
        "top halves take no time",
        "return set->vcpus[rank].blocking + (set->vcpu_count + rank) * set->switch_cost + top_halves_in(set, span);",
        "return set->vcpus[rank].blocking + (set->vcpu_count + rank) * set->switch_cost;",
    ),
    analysis(
        "a top half comes after its distance",
        "sum += (divide_up(span, set->top_halves[n].distance) + 1) *",
        "sum += (span / set->top_halves[n].distance + 1) *",
    ),
    analysis(
        "a top half comes no more often than its distance",
        "sum += (divide_up(span, set->top_halves[n].distance) + 1) *",
        "sum += divide_up(span, set->top_halves[n].distance) *",
    ),
    analysis(
        "there is one top half", "n < set->top_half_count; n++) sum += (divide", "n < set->top_half_count && n < 1; n++) sum += (divide"
    ),
    analysis("nobody blocks", "return set->vcpus[rank].blocking + (set", "return (set"),
    analysis("switches take no time", "+ (set->vcpu_count + rank) * set->switch_cost + top", "+ top"),
    analysis("who runs at first stops in time", "(set->vcpu_count + rank) * set", "(set->vcpu_count + rank - 1) * set"),
    analysis("time-outs before it have been paid", "(set->vcpu_count + rank) * set", "set->vcpu_count * set"),
    analysis("nobody after it times out", "(set->vcpu_count + rank) * set", "(rank + rank + 1) * set"),
    analysis(
        "Main VCPUs run when their period is over", "return divide_up(span, vcpu->period) * budget;", "return span / vcpu->period * budget;"
    ),
    analysis(
        "I/O VCPUs have no rate", "return budget + (span > budget ? (span - budget) * vcpu->percent / PIBS_PERCENT : 0);", "return budget;"
    ),
    analysis(
        "I/O VCPUs are periodic",
        "return budget + (span > budget ? (span - budget) * vcpu->percent / PIBS_PERCENT : 0);",
        "return divide_up(span, vcpu->period) * budget;",
    ),
    analysis(
        "I/O VCPUs have no budget at last",
        "return budget + (span > budget ? (span - budget) * vcpu->percent / PIBS_PERCENT : 0);",
        "return divide_up(span * vcpu->percent, PIBS_PERCENT);",
    ),
)

BOUND = (
    analysis("shares are rounded down", "divide_up(lower, whole)", "lower / whole"),
    analysis("shares have no end", "if (part / whole >= MOST_CORES) return MOST_CORES * ONE;"),
    analysis(
        "what is asked is rounded down", "divide_up((share & (ONE - 1)) * ADMISSION_PPM, ONE)", "(share & (ONE - 1)) * ADMISSION_PPM / ONE"
    ),
    analysis(
        "what is allowed is rounded up",
        "((share & (ONE - 1)) * ADMISSION_PPM >> PLACES)",
        "((share & (ONE - 1)) * ADMISSION_PPM >> PLACES) + 1",
    ),
    analysis(
        "I/O counts like Main",
        "vcpu->percent * (2 * PIBS_PERCENT - vcpu->percent), (uint64_t)PIBS_PERCENT * PIBS_PERCENT)",
        "vcpu->percent, PIBS_PERCENT)",
    ),
    analysis(
        "the bound is for any order", "return sum + most <= bounds[mains] && bound_applies(set);", "return sum + most <= bounds[mains];"
    ),
    analysis(
        "the bound is for any order of Main and I/O",
        "longest = greater(longest, set->vcpus[rank].period);",
        "if (set->vcpus[rank].kind == VCPU_MAIN) longest = greater(longest, set->vcpus[rank].period);",
    ),
    analysis("the bound forgets what else takes time", "return sum + most <= bounds[mains]", "return sum <= bounds[mains]"),
    analysis(
        "the bound asks for what else takes time of the last only",
        "most = greater(most, share_of(overhead_in(set, rank, vcpu->period), vcpu->period));",
        "most = share_of(overhead_in(set, rank, vcpu->period), vcpu->period);",
    ),
    edge(
        "I/O VCPUs have a place in the bound",
        "if (vcpu->kind != VCPU_MAIN) continue; mains++;",
        "mains++; if (vcpu->kind != VCPU_MAIN) continue;",
    ),
    analysis("everybody has one bound", "report->allowed_ppm = ppm_down(bounds[mains]);", "report->allowed_ppm = ppm_down(bounds[2]);"),
    edge("a limit is reached too early", "return sum + most <= bounds[mains]", "return sum + most < bounds[mains]"),
)

RESPONSES = (
    analysis("one's own budget takes no time", "uint64_t sum = budget_of(&set->vcpus[rank]) + overhead_in", "uint64_t sum = overhead_in"),
    analysis("those before take no time", "sum += work_in(&set->vcpus[before], span);", ";"),
    analysis("one does not wait for the one before", "before < rank; before++)", "before + 1 < rank; before++)"),
    analysis("one waits for itself", "before < rank; before++)", "before <= rank; before++)"),
    analysis("a response at the period's end is late", "if (demand > set->vcpus[rank].period)", "if (demand >= set->vcpus[rank].period)"),
    analysis("no response is late", "if (demand > set->vcpus[rank].period) return ADMISSION_E_LOAD;"),
    analysis("the first sum is the response", "if (demand <= span) return ADMISSION_OK;", "return ADMISSION_OK;"),
    analysis("a response that is found is looked for", "if (demand <= span)", "if (demand < span)"),
    analysis(
        "who is undecided is admitted",
        "return ADMISSION_E_UNDECIDED; } static enum admission_result test_by_rank",
        "return ADMISSION_OK; } static enum admission_result test_by_rank",
    ),
    analysis("only the first one is asked", "rank < set->vcpu_count && !result; rank++) { report", "rank < 1 && !result; rank++) { report"),
    analysis("who is late is not said", "report->which = rank;"),
    analysis("when it would be due is not said", "report->deadline = set->vcpus[rank].period;"),
    analysis("response times admit what they refuse", "report->by_response = !result;", "report->by_response = true;"),
    edge("the bound admits nothing", "return report->by_bound ? ADMISSION_OK : result;", "return result;"),
    analysis("everything is exact", "if (set->vcpus[n].kind == VCPU_IO || set->vcpus[n].blocking) return false;"),
    analysis("I/O is exact", "set->vcpus[n].kind == VCPU_IO || set->vcpus[n].blocking)", "set->vcpus[n].blocking)"),
    analysis("blocking is exact", "set->vcpus[n].kind == VCPU_IO || set->vcpus[n].blocking)", "set->vcpus[n].kind == VCPU_IO)"),
    edge("top halves are exact", "return set->top_half_count == 0 && set->switch_cost == 0", "return set->switch_cost == 0"),
    edge("switches are exact", "return set->top_half_count == 0 && set->switch_cost == 0", "return set->top_half_count == 0"),
)

DEADLINES = (
    analysis("sums above 1 fit", "sum.over <= sum.under : rounded <= ONE", "true : rounded <= ONE"),
    analysis("a sum of 1 is too much", "sum.over <= sum.under :", "sum.over < sum.under :"),
    analysis(
        "sums that wrap fit",
        "return sum_exactly(set, &sum) ? sum.over <= sum.under : rounded <= ONE;",
        "return !sum_exactly(set, &sum) || sum.over <= sum.under;",
    ),
    analysis(
        "fractions are added by their tops",
        "__builtin_mul_overflow(over, sum->under / common, &added)",
        "__builtin_mul_overflow(over, 1, &added)",
    ),
    analysis("exact although it did not fit", "(!set->edf || sum_exactly(set, &ignored))", "true"),
    Mutation(
        "sched: by deadline who is due waits anew", "kernel/sched/sched.c", "if (!core->by_deadline) update", "update", "sched_edges_test"
    ),
    analysis("nobody blocks by deadline", "most = greater(most, set->vcpus[n].blocking);", ";"),
    analysis(
        "blocking ends with the longest period",
        "if (set->vcpus[n].period <= time) most",
        "if (set->vcpus[n].period <= time && time < longest_period(set)) most",
    ),
    edge("blocking adds nothing beyond the longest period", "+ blocking_until(set, longest), rest", ", rest"),
    edge("whoever is due later blocks", "if (set->vcpus[n].period <= time) most", "most"),
    analysis(
        "top halves take no time by deadline",
        "blocking_until(set, time) + top_halves_in(set, time) +",
        "blocking_until(set, time) +",
    ),
    analysis(
        "switches take no time by deadline",
        "top_halves_in(set, time) + late_by_deadline(set);",
        "top_halves_in(set, time);",
    ),
    analysis("sums of fractions wrap", "__builtin_add_overflow(next.over, added, &next.over))", "(next.over += added, false))"),
    analysis(
        "a VCPU interrupts once by deadline",
        "(3 * set->vcpu_count - 2) * set",
        "set->vcpu_count * set",
    ),
    analysis("by deadline who is late does not run late at first", "(3 * set->vcpu_count - 2) * set", "(3 * set->vcpu_count - 3) * set"),
    analysis("by deadline two interrupts of each are counted", "(3 * set->vcpu_count - 2) * set", "(2 * set->vcpu_count) * set"),
    analysis("by deadline one interrupt of each is counted", "(3 * set->vcpu_count - 2) * set", "(set->vcpu_count + 1) * set"),
    analysis(
        "work is due before its deadline",
        "sum += time / set->vcpus[n].period * set->vcpus[n].budget;",
        "sum += divide_up(time, set->vcpus[n].period) * set->vcpus[n].budget;",
    ),
    analysis(
        "the last deadline alone counts", "if (time == 0) return ADMISSION_OK; demand", "if (time <= last) return ADMISSION_OK; demand"
    ),
    analysis("what has to be done by a deadline may be more", "if (demand > time) return ADMISSION_E_LOAD;"),
    analysis(
        "a demand to the tick is too much", "if (demand > time) return ADMISSION_E_LOAD;", "if (demand >= time) return ADMISSION_E_LOAD;"
    ),
    analysis("a core with next to nothing left is looked at for ever", "return *last < MOST_INTERVAL;", "return true;"),
    edge("a core with nothing left has some", "if (rest == 0 || once >> (64 - HALF_PLACES)) return false;", "if (rest == 0) rest = 1;"),
    edge("the once more ends with the longest period", "once += 2 * set->top_halves[n].cost;", "once += set->top_halves[n].cost;"),
    analysis("top halves do not count in the sum", "used += share_of(set->top_halves[n].cost, set->top_halves[n].distance);", ";"),
    analysis(
        "by deadline as by rank",
        "return set->edf ? test_by_deadline(set, report) : test_by_rank(set, report);",
        "return test_by_rank(set, report);",
    ),
)

FIT = (
    analysis("a try stays", "*vcpu = before; return found;", "return found;"),
    analysis(
        "what fits is half of it",
        "uint64_t middle = most - (most - least) / 2; if (fits_with",
        "uint64_t middle = most - (most - least) / 2; most = middle; if (fits_with",
    ),
    analysis("less than a switch fits", "uint64_t least = greater(set->switch_cost, 1)", "uint64_t least = 1"),
    analysis("more than all percent fit", "most = PIBS_PERCENT;", ";"),
    analysis("percents are ticks", "least = divide_up(least * PIBS_PERCENT, vcpu->period);", ";"),
    edge("something fits in no period", "if (vcpu->period == 0) return 0;"),
    analysis("what does not fit does", "if (fits_with(set, vcpu, least)) found", "found"),
)

TRACES = (
    record("nobody writes a ring that there is not", "if (!ring) return;"),
    record("a ring has no end", "core->head & (core->records - 1)", "core->head"),
    record("a ring has one place", "core->head & (core->records - 1)", "0"),
    record("what is written is not counted", "core->head++;"),
    record(
        "all cores write one ring",
        "&trace_state.core[cpu_slot()]; struct bh_trace_record *ring",
        "&trace_state.core[0]; struct bh_trace_record *ring",
    ),
    record("exits are told always", "if (now < known->next) return;"),
    record("exits are told once", "known->next = now + exits_apart;", "known->next = UINT64_MAX;"),
    record("exits that were told are told again", "known->exits[reason] = count;"),
    record("exits are those of the first core", "info_statistics()->core[cpu_slot()].exits", "info_statistics()->core[0].exits"),
    record("an interrupt does not end", "trace_write_at(now, BH_TRACE_IRQ_END, number, 0, 0); write", "write"),
    record("a row too many", "if (row >= BH_TRACE_VCPUS) return 0;"),
    record(
        "the row of nobody is somebody's",
        "__atomic_add_fetch(&trace_state.vcpu_count, 1, __ATOMIC_RELAXED)",
        "__atomic_fetch_add(&trace_state.vcpu_count, 1, __ATOMIC_RELAXED)",
    ),
    record("a ring is no power of two", "1ULL << (63 - __builtin_clzll(records))", "records"),
    record("a trace is not marked", "trace_state.magic = BH_TRACE_MAGIC;"),
    record("a trace has no clock", "trace_state.clock_hz = clock_hz;"),
    record("what was told in another life is known", "__atomic_store_n(&trace_life, trace_life + 1, __ATOMIC_RELAXED);"),
    record("tracing does not begin", "__atomic_store_n(&trace_on, on, __ATOMIC_RELEASE);"),
    budget("what is left is what comes first", "left += entry_of(&vcpu->main, n)->amount;", "return entry_of(&vcpu->main, n)->amount;"),
    decision("what comes later is left", "n < vcpu->main.count && entry_of(&vcpu->main, n)->at <= now; n++)", "n < vcpu->main.count; n++)"),
    decision(
        "what was used comes back first", "return vcpu->main.entries[vcpu->main.last];", "return vcpu->main.entries[vcpu->main.first];"
    ),
    decision("nothing comes back", "if (last.at > now) trace_write_at(now, BH_TRACE_REPLENISH, row, last.amount, last.at);"),
    decision("who sleeps has used up", "if (vcpu->ready && next_of(vcpu) > now)", "if (next_of(vcpu) > now)"),
    decision("nobody has used up", "if (vcpu->ready && next_of(vcpu) > now)", "if (false)"),
    decision(
        "what runs in the background is charged", "if (before->vcpu && before->foreground) note_charged", "if (before->vcpu) note_charged"
    ),
    decision(
        "each decision tells who runs",
        "if (before->life != trace_life || vcpu != before->vcpu || core->foreground != before->foreground)",
        "if (true)",
    ),
    decision("foreground and background are one", "|| core->foreground != before->foreground)", ")"),
    decision("nobody runs at first is not told", "if (before->life != trace_life || vcpu != before->vcpu", "if (vcpu != before->vcpu"),
    decision("what another life knew is known", "if (before->life != trace_life) *before = (struct told){ 0 };"),
    decision("who ran before is not noted", "*before = (struct told){ .vcpu = vcpu, .foreground = core->foreground, .life = trace_life };"),
    decision("traced interrupts are charged", "sched_except(core, from, to, owes); trace_write_at", "trace_write_at"),
    budget("an interrupt is told of without what it took", "core->since - since, 0);", "to - from, 0);"),
    decision("who owes is not told", "row_of(owes), core->since", "0, core->since"),
)

ADMISSIONS_AND_TRACES = (*INPUT, *TERMS, *BOUND, *RESPONSES, *DEADLINES, *FIT, *TRACES)
