# SPDX-License-Identifier: Apache-2.0
"""Mistakes in kicks, for the tests on the host: kickers stall there at every point, which no machine does on demand."""

from tests.mutation.mutation import Mutation

KICK_ARM, KICK_X86 = "hal/arm/kick.c", "hal/x86/kick.c"
DECIDES = "if (!is_acknowledged(box, ticket)) {"
COUNTS_SENT = "__atomic_add_fetch(&box->sent, 1, __ATOMIC_ACQ_REL);"
AWAITS = "while (missing(box) > core->kick_lost && polls++ < POLLS && !is_closed(core->partition))"
WORDS = "for (unsigned word = 0; word < ROOT_WORDS; word++) "
USED, POISONED = "for (uintptr_t left = root->used[word]; left; left &= left - 1) ", "{ uint64_t *entry ="


def arm(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, KICK_ARM, old, new, "kick_stage2_test")


def pc(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, KICK_X86, old, new, "kick_x86_test")


KICKS = (
    pc("eight siblings are kicked", "slot < self->partition->core_count", "slot < self->partition->core_count && slot < 8"),
    arm("a late kicker signals all the same", DECIDES, "{"),
    arm("a kicker never signals", DECIDES, "if (false) {"),
    arm("a signal is not counted", COUNTS_SENT, ""),
    arm(
        "a signal is counted before it is sent",
        "if (!is_acknowledged(box, ticket)) { gic_signal(victim->hardware_id); stage2_wake(); } " + COUNTS_SENT,
        COUNTS_SENT + " if (!is_acknowledged(box, ticket)) { gic_signal(victim->hardware_id); stage2_wake(); }",
    ),
    arm("a kicker wakes nobody", "gic_signal(victim->hardware_id); stage2_wake();", "gic_signal(victim->hardware_id);"),
    arm("a kicker does not poison", "poison(&victim->root, victim->vttbr, self->partition->vttbr);"),
    arm("translations outlive a poison", "set_valid(root, 0); invalidate(vttbr, own_vttbr);", "set_valid(root, 0);"),
    arm(
        "translations are invalidated before the poison",
        "set_valid(root, 0); invalidate(vttbr, own_vttbr);",
        "invalidate(vttbr, own_vttbr); set_valid(root, 0);",
    ),
    arm(
        "a poison comes before its request",
        "ticket = __atomic_add_fetch(&box->requested, 1, __ATOMIC_ACQ_REL); arch_barrier();"
        " poison(&victim->root, victim->vttbr, self->partition->vttbr);",
        "poison(&victim->root, victim->vttbr, self->partition->vttbr); arch_barrier();"
        " ticket = __atomic_add_fetch(&box->requested, 1, __ATOMIC_ACQ_REL);",
    ),
    arm("entries that lead nowhere are touched", USED + POISONED, USED.replace("root->used[word]", "UINTPTR_MAX") + POISONED),
    arm("the first word of entries alone is poisoned", WORDS + USED + POISONED, WORDS.replace("ROOT_WORDS", "1") + USED + POISONED),
    arm("an entry loses more than its valid bit", "& ~(uint64_t)VALID) | valid", "& 0) | valid"),
    arm("a ticket is answered by the one before", "- ticket) >= 0", "- ticket) >= -1"),
    arm("nobody waits for a signal", AWAITS, "while (false)"),
    arm(
        "a signal is waited for without end",
        "&& polls++ < POLLS && !is_closed(core->partition))",
        "&& ++polls && !is_closed(core->partition))",
    ),
    arm("who ends waits for signals", "&& polls++ < POLLS && !is_closed(core->partition))", "&& polls++ < POLLS)"),
    arm("a lost signal is waited for again", "if (polls > POLLS) core->kick_lost = missing(box);"),
    arm("a lost signal hides others", "missing(box) > core->kick_lost &&", "!core->kick_lost && missing(box) > 0 &&"),
    arm("a signal is lost for ever", "if (lost < core->kick_lost) core->kick_lost = lost;"),
    arm("a sibling answers", "if (core->slot) return 0;"),
    arm("a sibling has kicks to answer", "return !core->slot && is_unanswered(core->partition);", "return is_unanswered(core->partition);"),
    arm("answers go on without end", "&& round < BH_MAX_SANDBOXES;", ";"),
    arm("one answer a look", "&& round < BH_MAX_SANDBOXES;", "&& !round;"),
    arm("a signal outlives its answer", "gic_clear_signal(); if (", "if ("),
    arm("a sibling does not wait", "(core->slot && !is_left_over(partition)) ||", ""),
    arm("a sibling waits for the answer alone", "is_unanswered(partition) || !is_whole(&partition->root)", "is_unanswered(partition)"),
    arm("a sibling heals beside who heals", "arch_relax(); } return false;", "arch_relax(); } return true;"),
    arm("of a root that is whole one entry is looked at", "left; left &= left - 1) if (!(", "left; left = 0) if (!("),
    arm("a sibling waits without end", "polls++ == POLLS || is_closed(partition)", "is_closed(partition)"),
    arm("a sibling waits for who ends", "polls++ == POLLS || is_closed(partition)", "polls++ == POLLS"),
    arm("what is wanted is healed", "|| is_wanted(partition)) return;", ") return;"),
    arm("a root is not healed", "set_valid(&partition->root, VALID);"),
    arm("nobody looks again", "arch_barrier(); if (is_wanted(partition)) poison_own(partition);"),
    arm("a closed sandbox is healed", "return is_unanswered(partition) || is_closed(partition);", "return is_unanswered(partition);"),
    arm("an end poisons nothing", "arch_barrier(); poison_own(partition); for", "arch_barrier(); for"),
    arm("an end is not noted", "__atomic_store_n(&partition->closed, true, __ATOMIC_RELEASE);"),
    arm("an end signals itself, too", "if (slot != self->slot) gic_signal", "gic_signal"),
    arm("an end wakes nobody", "gic_signal(partition->hardware_id[slot]); stage2_wake();", "gic_signal(partition->hardware_id[slot]);"),
    arm("a new life stays closed", "__atomic_store_n(&core->partition->closed, false, __ATOMIC_RELEASE);"),
    arm("an access is tried for ever", "core->kick_retries++ < RETRIES;", "true;"),
    arm("an access is tried once", "core->kick_retries++ < RETRIES;", "core->kick_retries++ < 1;"),
    arm("tries do not come back", "if (core->kick_seen != requested) core->kick_retries = 0;"),
    arm("tries come back by themselves", "if (core->kick_seen != requested) core->kick_retries = 0;", "core->kick_retries = 0;"),
    arm("an end uses up tries", "return is_closed(core->partition) || core->kick_retries++", "return core->kick_retries++"),
    arm(
        "only one sandbox is told",
        "for (const struct told *to = self->partition->told; to->box; to++) {",
        "for (const struct told *to = self->partition->told; to == self->partition->told; to++) {",
    ),
    arm("a notice is not noted", "__atomic_store_n(&to->box->noticed, 1, __ATOMIC_RELEASE);"),
    arm("who notifies nobody does", "to->box; to++) {", "to == self->partition->told || to->box; to++) {"),
    arm("every core is told again", "if (!core->slot && load(", "if (load("),
    arm("a core is told of nothing", "if (!core->slot && load(&core->partition->box->noticed))", "if (!core->slot)"),
    pc("a kick is not counted", "ticket = __atomic_add_fetch(&to->box->requested, 1, __ATOMIC_SEQ_CST);", "ticket = to->box->requested;"),
    pc(
        "an NMI leaves before its request",
        "ticket = __atomic_add_fetch(&to->box->requested, 1, __ATOMIC_SEQ_CST);"
        " if (__atomic_load_n(&to->box->awake, __ATOMIC_SEQ_CST)) apic_send(to->apic_id, APIC_NMI, 0);",
        "if (__atomic_load_n(&to->box->awake, __ATOMIC_SEQ_CST)) apic_send(to->apic_id, APIC_NMI, 0);"
        " ticket = __atomic_add_fetch(&to->box->requested, 1, __ATOMIC_SEQ_CST);",
    ),
    pc("a core that is not awake gets an NMI", "if (__atomic_load_n(&to->box->awake, __ATOMIC_SEQ_CST))", "if (true)"),
    pc("a core that is awake gets none", "if (__atomic_load_n(&to->box->awake, __ATOMIC_SEQ_CST))", "if (false)"),
    pc("a sibling that is not awake gets an NMI", "if (__atomic_load_n(&core->box->awake, __ATOMIC_SEQ_CST))", "if (true)"),
    pc(
        "who closes a gate goes on with what is behind it",
        "x86_kick_core(self->partition->core[slot]);",
        "if (slot != self->slot) x86_kick_core(self->partition->core[slot]);",
    ),
    arm("a gate is closed, and known all the same", "pt_gate_turn(gate, open); invalidate(vttbr, vttbr);", "pt_gate_turn(gate, open);"),
    pc("the first sibling alone is stopped", "slot < self->partition->core_count;", "slot < 2;"),
    pc("whom it may not kick is kicked", "if (!to->box) return 0;", "if (!to->box) return 1;"),
    pc("whom it may not kick has answered", "return box && (int32_t)", "return !box || (int32_t)"),
    pc("a PC's ticket is answered by the one before", "- ticket) >= 0", "- ticket) >= -1"),
    pc(
        "tickets end at half of all numbers",
        "(int32_t)(__atomic_load_n(&box->acknowledged, __ATOMIC_ACQUIRE) - ticket) >= 0",
        "__atomic_load_n(&box->acknowledged, __ATOMIC_ACQUIRE) >= ticket",
    ),
    pc(
        "a PC answers one kick at a time",
        "__atomic_store_n(&core->box->acknowledged, requested, __ATOMIC_RELEASE);",
        "__atomic_store_n(&core->box->acknowledged, core->box->acknowledged + (answered > 0), __ATOMIC_RELEASE);",
    ),
    pc(
        "what was answered before is counted again",
        "uint32_t answered = requested - core->box->acknowledged;",
        "uint32_t answered = requested;",
    ),
    pc(
        "only one sandbox of a PC is told",
        "for (const struct x86_kick_target *to = self->partition->told; to->box; to++) {",
        "for (const struct x86_kick_target *to = self->partition->told; to == self->partition->told; to++) {",
    ),
    pc("a PC's notice is not noted", "__atomic_store_n(&to->box->noticed, 1, __ATOMIC_SEQ_CST);"),
    pc(
        "a notice is told before it is noted",
        "__atomic_store_n(&to->box->noticed, 1, __ATOMIC_SEQ_CST); apic_send(to->apic_id, APIC_FIXED, BH_NOTICE_VECTOR);",
        "apic_send(to->apic_id, APIC_FIXED, BH_NOTICE_VECTOR); __atomic_store_n(&to->box->noticed, 1, __ATOMIC_SEQ_CST);",
    ),
    pc("a PC's core is told of nothing", "if (__atomic_load_n(&core->box->noticed, __ATOMIC_SEQ_CST)) x86_wrmsr", "x86_wrmsr"),
)
