# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in channels that are opened on request: the gate in stage 2, what monitors do with it, and the sandbox kernel."""

from tests.mutation.mutation import Mutation

GATE = "hal/pt/gate_boot.c"
PT, CHANNELS, START = "hal/pt/pt.h", "monitor/channels.c", "monitor/boot/channels_boot.c"
KERNEL, X86, ARM = "kernel/core/channels.c", "hal/x86/kick.c", "hal/arm/kick.c"
BUILDER = ["hal/arena_boot.c", "hal/pt/pt_boot.c", GATE, "hal/pt/formats_x86_boot.c", "hal/pt/formats_arm_boot.c"]
REQUEST_PROGRAMS = {name: f"tests/unit/{name}.c" for name in ("gate_test", "channels_turn_test")}
REQUEST_PARTS = {
    "gate_test": [*BUILDER, "tests/unit/fake_arch.c", "tests/unit/frames.c"],
    "channels_turn_test": [CHANNELS],
}


def gate(what: str, old: str, new: str = "", file: str = GATE) -> Mutation:
    return Mutation(f"a gate: {what}", file, old, new, "gate_test")


def turned(what: str, old: str, new: str = "", caught_by: str = "channels_turn_test", file: str = CHANNELS) -> Mutation:
    return Mutation(f"a channel on request: {what}", file, old, new, caught_by)


REQUEST_ROWS = (
    gate("begins anywhere", "pt_offset(ia, level) ||"),
    gate("larger than there is", "size > BH_LARGE_GATE_BYTES ||"),
    gate("of nothing", "!size ||"),
    gate("beyond what there is", "|| !pt_fits(ia, size, pt->format->ia_bits)"),
    gate("others are behind it", "if (!is_alone(pt, ia, size, pt_span(level))) return HAL_E_OVERLAP;"),
    gate(
        "a part is not mapped",
        "!= (done < size)) return false;",
        "> (done < size)) return false; if (done < size && place.kind == PT_HOLE) continue;",
    ),
    gate("something else is behind it", "!= (done < size)", "< (done < size)"),
    gate("what is at the end of a large stretch", "ia, size, pt_span(level))", "ia, size, BH_GATE_BYTES)"),
    gate("what is behind a large one", "ia, size, pt_span(level))", "ia, size, size > BH_GATE_BYTES ? size : pt_span(level))"),
    gate("a leaf reaches beyond", "end > size || "),
    gate("in two pieces", "leaf.hpa.v - done != start || ", ""),
    gate("to be executed", " || leaf.permissions & HAL_EXECUTE", ""),
    gate("the entry of another level", "at > level; at--", "at > 0; at--"),
    gate("open at the start", "pt_gate_turn(out, false);"),
    gate("never closed", "open ? gate->open : 0", "gate->open", PT),
    gate("never opened", "open ? gate->open : 0", "0", PT),
    turned("any number", "if (n >= BH_MAX_CHANNELS) return BH_E_DENIED;"),
    turned("any channel", "if (!hal_gate_exists(&end->gate)) return BH_E_DENIED;"),
    turned("a life finds what the one before had open", "hal_gate_exists(&end->gate) ? BH_CHANNEL_GONE : 0", "0"),
    turned("told and not mapped", "if (hal_gate_exists(&end->gate)) hal_gate_turn(core, &end->gate, to == BH_CHANNEL_LIVES);"),
    turned("mapped the other way", "to == BH_CHANNEL_LIVES);", "to != BH_CHANNEL_LIVES);"),
    turned("mapped and not told", "channel_tell(end, to);"),
    turned("closed is open", "open ? BH_CHANNEL_LIVES : BH_CHANNEL_CLOSED", "BH_CHANNEL_LIVES"),
    turned(
        "a gate for who has no end", "own_end(row, index) != 2 && is_on_request(row)", "is_on_request(row)", "channels_boot_test", START
    ),
    turned("a gate for all", "own_end(row, index) != 2 && is_on_request(row)", "own_end(row, index) != 2", "channels_boot_test", START),
    turned("another's gate", "gates[row - table->channels]", "gates[0]", "channels_boot_test", START),
    turned("the second part is the first", "region->gpa < gpa)", "true)", "channels_boot_test", START),
    turned("it has begun", "is_on_request(row) ? BH_CHANNEL_CLOSED : BH_CHANNEL_COMING", "BH_CHANNEL_COMING", "channels_boot_test", START),
    turned(
        "flags of another table",
        "row->flags & ~(uint32_t)BH_CHANNEL_ON_REQUEST",
        "false",
        "table_test",
        "monitor/boot/table/channels_boot.c",
    ),
    turned("nobody forgets what was there", "if (!open) hal_kick_siblings(self);", "", "kick_x86_test", X86),
    turned(
        "who is kicked on SVM remembers", "vmcb_of(core)->control.tlb_control = TLB_CONTROL_FLUSH_ALL;", "", "svm_test", "hal/x86/svm/svm.c"
    ),
    turned("who is kicked on VT-x remembers", "vmx_invept(INVALIDATE_ALL_CONTEXTS);", "", "vmx_test", "hal/x86/vmx/vmx.c"),
    turned(
        "the kernel looks behind the gate",
        "return is_on_request(grant) || attach(one) ? one : NULL;",
        "return attach(one) ? one : NULL;",
        "kernel_channels_test",
        KERNEL,
    ),
    turned(
        "the kernel keeps what it does not know",
        "(void)turn(one->grant, false); return BH_E_UNKNOWN;",
        "return BH_E_UNKNOWN;",
        "kernel_channels_test",
        KERNEL,
    ),
    turned(
        "what is given back stays open",
        "if (is_on_request(one->grant) && !one->taken) (void)set_open(one, false);",
        "",
        "kernel_channels_test",
        KERNEL,
    ),
    turned(
        "the kernel closes what is always there",
        "one && !one->taken && is_on_request(one->grant) ? set_open(one, open)",
        "one && !one->taken ? set_open(one, open)",
        "kernel_channels_test",
        KERNEL,
    ),
    *(
        turned(f"readers of the kernel: {what}", old, new, "kernel_channels_test", KERNEL)
        for what, old, new in (
            ("all have the first one's", "end = one->taken & 1 ? take_further(one) : &one->end;", "end = &one->end;"),
            ("two have the same number", "one->taken |= 1U << number;", ""),
            ("a ring has several", "if (one->end.role != BH_END_LATEST_READER) return NULL;", ""),
            ("the first that goes closes it for all", "if (is_on_request(one->grant) && !one->taken)", "if (is_on_request(one->grant))"),
            ("a number that is given back stays taken", "one->taken &= ~(1U << reader->number);", ""),
            ("a place that is given back stays taken", "reader->of = NULL;", ""),
            ("a command closes it for who reads", "one && !one->taken && is_on_request", "one && is_on_request"),
            ("a command has a program's", "one && one->is_attached && !(one->taken & 1)", "one && one->is_attached"),
        )
    ),
)
