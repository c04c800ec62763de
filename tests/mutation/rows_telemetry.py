# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in what a sandbox says of itself, in when it does, and in what bulkhead-top makes of it."""

from tests.mutation.mutation import Mutation

TELEMETRY, HEARTBEAT, VCPUS = (f"kernel/core/{name}.c" for name in ("telemetry", "heartbeat", "vcpus"))
VALUE, VIEW = (f"tools/linux/top/{name}.c" for name in ("value", "view"))
TELEMETRY_PROGRAMS = {name: f"tests/unit/{name}.c" for name in ("kernel_telemetry_test", "linux_top_test")}
TELEMETRY_PARTS = {"kernel_telemetry_test": [TELEMETRY, "kernel/core/clock.c"], "linux_top_test": [VALUE, VIEW]}


def told(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"telemetry: {what}", TELEMETRY, old, new, "kernel_telemetry_test")


def heart(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"telemetry: {what}", HEARTBEAT, old, new, "kernel_timer_test")


def made(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"telemetry: {what}", VCPUS, old, new, "kernel_vcpus_test")


def taken(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"bulkhead-top: {what}", VALUE, old, new, "linux_top_test")


def shown(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"bulkhead-top: {what}", VIEW, old, new, "linux_top_test")


TELEMETRY_ROWS = (
    told("any channel is one", "grant->flags & BH_CHANNEL_TELEMETRY", "true"),
    told("without a channel", "if (!out) return; said.magic", "said.magic"),
    told("at each look", "if (!telemetry_is_due(now)) return;"),
    told("once for all", "now + info_clock_hz() / TELEMETRY_HZ", "UINT64_MAX"),
    told("the first of a connection is lost", "(void)bh_latest_write(out, &said, sizeof(said));", ";"),
    told("exits of its start count, too", "- stats->at_ready[core][reason]"),
    told("exits before it is ready", "if (!stats->ready_clock) return;"),
    told("exits of the first core alone", "core < said.core_count", "core < 1"),
    told("exits of others' cores", "core < said.core_count", "core < BH_MAX_SANDBOX_CORES"),
    told("a name fills its row", "n < room - 1", "n < room"),
    told("cores are counted by the sandbox", "info->cores[vcpu->slot]", "vcpu->slot"),
    told("what is not told yet", "&& __atomic_load_n(&trace_state.vcpu[row].had, __ATOMIC_ACQUIRE)"),
    told("more VCPUs than rows", "row <= BH_TELEMETRY_VCPUS &&"),
    told("VCPUs that are left out", "said.vcpus_left_out = count - said.vcpu_count;"),
    told("more channels than rows", "count < BH_TELEMETRY_CHANNELS ? count : BH_TELEMETRY_CHANNELS", "count"),
    told("channels that are left out", "said.channels_left_out = count - said.channel_count;"),
    told("other grants are channels", "info->grants[n].kind == BH_GRANT_CHANNEL && count++", "count++"),
    told("a closed one is looked at", "if (!end) return; to->state", "to->state"),
    told("up since the machine is", "now - stats->start_clock", "now"),
    heart("nobody is told that it is due", "|| telemetry_is_due(event->deadline)"),
    heart("a heart that is stopped beats", "beat_event.waits ? clock_to_ns(period) : 0", "clock_to_ns(period)"),
    made("programs of the first core alone", "slot < BH_MAX_SANDBOX_CORES; slot++) { const", "slot < 1; slot++) { const"),
    made("any program", "if (room->made[n].vcpu.row == row) return", "return"),
    taken("any length", 'if (length != sizeof(found)) return "it has another length";'),
    taken("anything", 'if (value->magic != BH_TELEMETRY_MAGIC) return "it is something else";'),
    taken("any version", 'if (value->version != BH_TELEMETRY_VERSION) return "it is of another version";'),
    taken("any count of VCPUs", 'if (value->vcpu_count > BH_TELEMETRY_VCPUS) return "it claims too many VCPUs";'),
    taken("any count of channels", 'if (value->channel_count > BH_TELEMETRY_CHANNELS) return "it claims too many channels";'),
    taken("any count of kinds", 'if (value->exit_kinds > BH_EXIT_SLOTS) return "it claims too many kinds of exits";'),
    taken("a name has no end", "n < room - 1 && name[n]", "n < room && name[n]"),
    taken("what a terminal would obey", "name[n] <= ' ' ||"),
    taken("what is no ASCII", "|| name[n] > '~'"),
    taken("names of VCPUs", "make_printable(found.vcpu[n].name, sizeof(found.vcpu[n].name));"),
    taken("names of programs", "make_printable(found.vcpu[n].program, sizeof(found.vcpu[n].program));"),
    taken("names of channels", "make_printable(found.channel[n].name, sizeof(found.channel[n].name));"),
    taken("names of others", "make_printable(found.channel[n].peer, sizeof(found.channel[n].peer));"),
    taken("a value that is refused", "if (why) return why;", "if (why) { *value = found; return why; }"),
    taken("lives are compared", "now->life != before->life ||"),
    taken("what goes back", "seconds > 0 && now >= before", "seconds > 0"),
    taken("a year is a second", "seconds <= LONGEST_S ? seconds : 0", "seconds"),
    shown("lines are as long as they like", "line[screen->columns] = '\\0';", ";"),
    shown("more lines than there is room for", "if (screen->bytes + length + 2 > sizeof(screen->text)) return;"),
    shown("numbers grow", "value > 9999999 ||"),
    shown("per cent grow", "if (part > 99.99)", "if (0)"),
    shown("cores grow", "now->core < 1000 ? now->core : 999", "now->core"),
    shown("kinds that are not known", 'kind < BH_EXIT_REASONS ? kinds[kind] : "other"', "kinds[kind % BH_EXIT_REASONS]"),
    shown("connections are compared", "now->connections == before->connections &&"),
    shown("rows that were not there are compared", "n < before->vcpu_count ? seconds : 0", "seconds"),
    shown("what came long ago is new", "age > 0 ? age : 0.0", "0.0"),
    shown("nobody says why", 'sandbox->trouble ? sandbox->trouble : "");', '"");'),
    shown("what is left out", "if (left_out)", "if (0)"),
    shown("counts do not wrap", "(uint32_t)(now->sent - before->sent)", "now->sent < before->sent ? 0 : now->sent - before->sent"),
    shown("a value is shown once", "sandbox->shown = sandbox->newest;", ";"),
)
