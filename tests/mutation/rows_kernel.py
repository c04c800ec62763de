# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the sandbox kernel's own files, frames and address spaces first, for their tests on the host."""

from tests.mutation.mutation import Mutation
from tests.mutation.rows_idle import IDLE_PARTS, IDLE_PROGRAMS, IDLE_ROWS

FRAMES, SPACE, KERNEL_LOCK = "kernel/core/frames.c", "kernel/core/space.c", "kernel/core/lock.c"
FORMAT, FORMAT_V7 = (f"kernel/arch/{arch}/space_format.c" for arch in ("aarch64", "armv7"))
CONSOLE, COMMAND, TEXT = "kernel/core/console.c", "kernel/core/command.c", "kernel/core/text.c"
DMA_FAULTS, SMMUV3_RECORDS, AMDVI_RECORDS = "kernel/core/dma_faults.c", "kernel/drivers/smmuv3_records.c", "kernel/drivers/amdvi_records.c"
UART, UART_MEMORY = "kernel/drivers/ns16550.c", "kernel/drivers/ns16550_memory.c"
TIMER, HEARTBEAT, CLOCK, HEAP = "kernel/core/timer.c", "kernel/core/heartbeat.c", "kernel/core/clock.c", "kernel/sched/heap.c"
KERNEL_CPU = [KERNEL_LOCK, "tests/unit/fake_cpu.c", "tests/unit/fake_arch.c"]
KERNEL_PROGRAMS = IDLE_PROGRAMS | {
    "kernel_console_test": "tests/unit/kernel_console_test.c",
    "kernel_text_test": "tests/unit/kernel_text_test.c",
    "kernel_dma_faults_test": "tests/unit/kernel_dma_faults_test.c",
    "kernel_uart_test": "tests/unit/kernel_uart_test.c",
    "kernel_timer_test": "tests/unit/kernel_timer_test.c",
    "kernel_vcpus_test": "tests/unit/kernel_vcpus_test.c",
    "kernel_frames_test": "tests/unit/kernel_frames_test.c",
    "kernel_space_test": "tests/unit/kernel_space_test.c",
    "kernel_space_armv7_test": "tests/unit/kernel_space_armv7_test.c",
}
KERNEL_PARTS = IDLE_PARTS | {
    "kernel_console_test": [CONSOLE, COMMAND, "kernel/core/line_edit.c", TEXT, *KERNEL_CPU],
    "kernel_text_test": [TEXT, CLOCK],
    "kernel_dma_faults_test": [DMA_FAULTS, SMMUV3_RECORDS, AMDVI_RECORDS, TEXT],
    "kernel_uart_test": [UART, UART_MEMORY, "tests/unit/fake_cpu.c"],
    "kernel_timer_test": [TIMER, HEARTBEAT, CLOCK, HEAP, "tests/unit/fake_cpu.c"],
    "kernel_vcpus_test": ["kernel/core/vcpus.c", "kernel/core/text.c", CLOCK, "tests/unit/fake_cpu.c"],
    "kernel_frames_test": [FRAMES, *KERNEL_CPU],
    "kernel_space_test": [SPACE, FRAMES, FORMAT, "tests/unit/kernel_tlb.c", *KERNEL_CPU],
    "kernel_space_armv7_test": [SPACE, FRAMES, FORMAT_V7, "tests/unit/kernel_tlb.c", *KERNEL_CPU],
}


def frames(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, FRAMES, old, new, "kernel_frames_test")


def space(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, SPACE, old, new, "kernel_space_test")


def kind(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, FORMAT, old, new, "kernel_space_test")


MEMORY = (
    frames("a frame is given back by anybody", "all_have(first, count, owner)", "!all_have(first, 1, FRAME_FREE)"),
    frames("one frame is given back twice", "all_have(first, count, owner)", "true"),
    frames("only the first frame's owner is looked at", "all_have(first, count, owner)", "all_have(first, 1, owner)"),
    frames("a frame is handed out with what it held", "if (address) clear(address, FRAME_BYTES);"),
    frames("a run is handed out with what it held", "if (address) clear(address, count << FRAME_SHIFT);"),
    frames("what is claimed is taken already", "&& next(first, true) >= first + count;", ";"),
    frames("a run takes one frame less than it says", "end - aligned >= count)", "end - aligned >= count - 1)"),
    frames(
        "a run is aligned in the pool, not in memory", "const uint64_t offset = frames.base >> FRAME_SHIFT;", "const uint64_t offset = 0;"
    ),
    frames("a word that is full of taken frames is looked at", "if (*word) return;", "return;"),
    frames("a span ends beyond the last frame", "size > bytes - offset", "false"),
    frames("the notes are handed out", "take(0, (notes_end - base + FRAME_BYTES - 1) >> FRAME_SHIFT, FRAME_NOTES);"),
    frames("the count of free frames only falls", "frames.free += count;"),
    frames("nobody may own", "if (is_owner(owner) && frames.free)", "if (frames.free)"),
    frames("the rest begins a frame early", "while (n && is_free(n - 1))", "n--; while (n && is_free(n - 1))"),
    space("what is mapped is mapped anew", "if (*at.entry) return SPACE_E_OVERLAP;"),
    space("tables are counted for each leaf", "if (run.virtual >= *end)", "if (true)"),
    space("tables that are missing are not taken", "++*tables;"),
    space("tables taken in vain are kept", "if (!frame) { give_all(spare);", "if (!frame) {"),
    space("a link stays in a table", "*frame = 0;"),
    space("a table is led to before its holes are seen", "memory_publish(); /* its holes, before anything leads to it */"),
    space("leaves of 2 MiB begin anywhere", "offset_in(run->virtual | run->physical, SPACE_LARGE_SHIFT) == 0 &&", ""),
    space("leaves of 2 MiB lead anywhere", "offset_in(run->virtual | run->physical,", "offset_in(run->virtual,"),
    space("leaves of 2 MiB end anywhere", "run->end - run->virtual >= 1ULL << SPACE_LARGE_SHIFT;", "true;"),
    space("a process's mapping is everybody's", "(virtual >= space_format.user_start ? space_format.user_part : 0)", "0"),
    space("a page that is unmapped stays in the TLB", "if (leaves++ < FORGET_PAGES) memory_forget_page(virtual, asid_at(space, virtual));"),
    space("many pages that are unmapped stay in the TLB", "if (leaves > FORGET_PAGES) memory_forget_asid(MEMORY_EVERY_ASID);"),
    space("the wrong ASID is forgotten", "virtual < space_format.user_start ? MEMORY_EVERY_ASID : space->asid", "0"),
    space(
        "a table that is given back stays in the TLB",
        "memory_write(at.entry, 0); memory_forget_page(virtual, asid_at(space, virtual)); put",
        "memory_write(at.entry, 0); put",
    ),
    space("tables that the roots share are given back", "!shared && leads_to_table(*at.entry, above)", "leads_to_table(*at.entry, above)"),
    space("tables with leaves are given back", "&& is_empty(table_of(*at.entry)))", ")"),
    space("empty tables are kept", "put(empty, table);"),
    space("a leaf is cut at its start", "if (cuts_leaf(space, virtual) ||", "if ("),
    space("a leaf is cut at its end", "|| (virtual + size < space_format.end && cuts_leaf(space, virtual + size)))", ")"),
    space("another core is not asked", "return space->cores & ~(1U << cpu_slot());", "return false;"),
    space("a core that translates is not noted", "space->cores |= 1U << cpu_slot();\n\tmemory_switch", "memory_switch"),
    space("a root that others have copied changes", "&& spaces.others)", "&& false)"),
    space(
        "a process maps into the kernel", "uint64_t start = space == &kernel_space ? 0 : space_format.user_start;", "uint64_t start = 0;"
    ),
    space("a process's kind in the kernel's part", "virtual >= space_format.user_start : space", "true : space"),
    space("the kernel's kind in a process", ": space == &kernel_space;\n}", ": true;\n}"),
    space("a map goes on from the kernel's part", "virtual < space_format.user_start && size > space_format.user_start - virtual", "false"),
    space("a new space lacks the kernel", "space->root[n] = kernel_space.root[n];", ";"),
    space("an ASID is given twice", "spaces.asid_taken[asid] = true;"),
    space("an ASID is never given back", "spaces.asid_taken[space->asid] = false;"),
    space("an ASID comes back with what it led to", "memory_forget_asid(space->asid); frames_give", "frames_give"),
    space("a root is never given back", "frames_give((uintptr_t)space->root, 1, FRAME_TABLE);"),
    space("what a process had mapped keeps its tables", "unmap(space, space_format.user_start, space_format.end);"),
    space("a core's memory of a space is not emptied", "memory_forget_asid(space->asid);\n\tspace->cores &=", "space->cores &="),
    space("a core that goes off keeps what it held", "memory_leave();"),
    space("a core that is off counts", "kernel_space.cores &= ~(1U << cpu_slot());"),
    space("a core that is started does not count", "kernel_space.cores |= 1U << slot;"),
    Mutation(
        "a hole goes on after the last address",
        SPACE,
        "least(bytes, space_format.end - virtual)",
        "bytes",
        "kernel_space_armv7_test",  # on AArch64 the root ends where addresses do
    ),
    kind("the kernel runs what a process brings", "AP_READ_ONLY | AP_USER | PXN,", "AP_READ_ONLY | AP_USER,"),
    kind("data can be executed", "[SPACE_DATA] = NORMAL | UXN | PXN,", "[SPACE_DATA] = NORMAL | UXN,"),
    kind(
        "a process's data can be executed", "AP_USER | UXN | PXN,\n\t\t\t[SPACE_USER_DEVICE]", "AP_USER | PXN,\n\t\t\t[SPACE_USER_DEVICE]"
    ),
)


def console(what: str, file: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, file, old, new, "kernel_console_test")


def text(what: str, file: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, file, old, new, "kernel_text_test")


def uart(what: str, file: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, file, old, new, "kernel_uart_test")


def timer(what: str, file: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, file, old, new, "kernel_timer_test")


KERNEL = (
    *IDLE_ROWS,
    Mutation("reads by DMA are taken for writes", SMMUV3_RECORDS, "record[1] & ARM_READS ?", "false ?", "kernel_dma_faults_test"),
    Mutation("a DMA fault is told again", DMA_FAULTS, "last[n] = word;", "", "kernel_dma_faults_test"),
    Mutation("a flood of DMA faults is told whole", DMA_FAULTS, "count++ < SAID", "count++ < 1000", "kernel_dma_faults_test"),
    Mutation("a DMA fault is another's", DMA_FAULTS, "info->grants[n].flags >> 16 == function", "true", "kernel_dma_faults_test"),
    uart("registers of a UART lie side by side", UART_MEMORY, "<< (grant->flags >> BH_GRANT_REG_SHIFT & SHIFTS)", ""),
    uart("registers of a UART are bytes", UART_MEMORY, "return grant->flags >> BH_GRANT_REG_WIDTH & WIDTHS;", "return 0;"),
    uart("a UART in memory has a PC's clock", UART_MEMORY, "memory_write, false }", "memory_write, true }"),
    uart("interrupts are masked where divisors are", UART, "uart = grant; write(LCR, LCR_8_BITS);", "uart = grant;"),
    uart("a UART that was busy stays so", UART, "(void)read(USR);", ";"),
    uart("the line of a UART that is flooded stays high", UART, "write(IER, 0); write(IER, on);", ""),
    uart("a UART that was flooded interrupts no more", UART, "write(IER, 0); write(IER, on);", "write(IER, 0);"),
    console("a life goes on in the line that the one before left unfinished", CONSOLE, "if (info_statistics()->restarts)", "if (false)"),
    console("a life's log goes on in the line that the one before left unfinished", CONSOLE, "log_put('\\n');", ";"),
    console("ports are taken for registers", CONSOLE, "grant->kind == driver->kind &&", ""),
    console(
        "only the first name of a driver counts",
        CONSOLE,
        "for (const char *const *name = driver->compatible; *name; name++)",
        "for (const char *const *name = driver->compatible; name == driver->compatible; name++)",
    ),
    console("a flood is never masked", CONSOLE, "limit_rate(); if (reader", "if (reader"),
    console(
        "what has just been masked is served",
        CONSOLE,
        "if (uart->serve(received)) /* first: a 16550 says nothing of what is masked, and keeps it */ send_dot(); limit_rate();",
        "limit_rate(); if (uart->serve(received)) send_dot();",
    ),
    console("dots are sent though they are limited", CONSOLE, "if (!uart || rate.distance)", "if (!uart)"),
    console("a flood is masked for ever", CONSOLE, "timer_add(&unmasking, until);", ""),
    console("a flood is masked twice", CONSOLE, "if (until && !unmasking.waits)", "if (until)"),
    console("nobody who was masked hears anything again", CONSOLE, "uart->receive_interrupt(true);"),
    console("a limit is not kept", CONSOLE, "rate.distance = distance;"),
    console("input has no end", CONSOLE, ">= INPUT_BYTES) return;", ">= 0xffffffff) return;"),
    console("another life loses the log", CONSOLE, "if (log_ring->magic != BH_LOG_MAGIC) log_ring->head = 0;", "log_ring->head = 0;"),
    console("the ring is as long as what is written", CONSOLE, "head % BH_LOG_TEXT_BYTES] =", "head % (BH_LOG_TEXT_BYTES - 1)] ="),
    console("a character that finds no room is dropped", CONSOLE, "while (!sent);", "while (false);"),
    console(
        "interrupts stay disabled after a character",
        CONSOLE,
        "sent = uart->put(c); cpu_interrupts_restore(enabled);",
        "sent = uart->put(c);",
    ),
    console("reports disturb who types", CONSOLE, "uart && !somebody_types && dots_sent()", "uart && dots_sent()"),
    console("a dot is sent too many", CONSOLE, "if (!left || (left > 1 &&", "if ((left > 1 &&"),
    console("a word is a character too long", COMMAND, "if (n < COMMAND_WORD_BYTES - 1)", "if (n < COMMAND_WORD_BYTES)"),
    console("operands that are missing are 0", COMMAND, "line->operands >= command->operands", "true"),
    console("a fourth operand is taken", COMMAND, "line->operands < COMMAND_OPERANDS &&", ""),
    console("operands need no comma", COMMAND, "if (*cursor != ',') return true;"),
    text("a prefix is equal", TEXT, "return *a == *b;", "return !*a;"),
    text("0x alone is a number", TEXT, "if (digit_value(*s) >= base) return false;"),
    text("letters are digits", TEXT, "for (; digit_value(*s) < base; s++)", "for (; digit_value(*s) < 16; s++)"),
    text("hexadecimal is decimal", TEXT, "== 'x' ? 16 : 10", "== 'x' ? 10 : 10"),
    text("0 has no digit", TEXT, "} while (value);", "} while (value > 9);"),
    text("the upper half of ticks is lost", CLOCK, "(value_high * factor_high << (64 - PLACES)) +", ""),
    text("the middle of ticks is lost", CLOCK, "(middle << (32 - PLACES)) +", ""),
    timer("events come in any order", HEAP, "is_before(b, a) ? b : a", "a"),
    timer("events come in the order of their keys alone", HEAP, "|| (a->key == b->key && a->number < b->number)"),
    timer("a heap leans to the wrong side", HEAP, "depth_of(node->left) < depth_of(node->right)", "false"),
    timer("a heap loses what was below who is taken out", HEAP, "rest = merge(node->left, node->right);", "rest = node->left;"),
    timer("a heap's top has somebody above", HEAP, "if (rest) rest->up = up;"),
    timer("a heap loses its top", HEAP, "if (!up) heap->top = rest; else if", "if (!up) heap->top = NULL; else if"),
    timer("a heap does not lean again", HEAP, "while (up && lean(up)) up = up->up;"),
    timer("a heap does not say who is above", HEAP, "if (*link) (*link)->up = last;"),
    timer("who is hastened keeps its key", HEAP, "node->key = key; insert", "insert"),
    timer("who is hastened stays where it is", HEAP, "heap_remove(heap, node); node->key = key; insert(heap, node);", "node->key = key;"),
    timer("who is hastened is there twice", HEAP, "heap_remove(heap, node); node->key = key;", "node->key = key;"),
    timer("who is hastened comes after its equals", HEAP, "node->key = key; insert(heap, node);", "node->key = key; heap_add(heap, node);"),
    timer(
        "the hardware is set for what was added last",
        TIMER,
        "heap_add(&queue->events, &event->node); set_hardware(queue);",
        "heap_add(&queue->events, &event->node); timer_hw_set(deadline);",
    ),
    timer("the hardware keeps what was cancelled", TIMER, "take_out(queue, event); set_hardware(queue);", "take_out(queue, event);"),
    timer("what is not due fires", TIMER, "while (first_deadline(queue) <= now)", "while (first_deadline(queue) <= now + 50)"),
    timer("what is due to the tick waits", TIMER, "while (first_deadline(queue) <= now)", "while (first_deadline(queue) < now)"),
    timer("the next event has no interrupt", TIMER, "queue->firing = false; set_hardware(queue);", "queue->firing = false;"),
    timer("the next event's interrupt was the last one", TIMER, "queue->set = 0;", ""),
    timer("the hardware is never set again", TIMER, "queue->firing = false;", ""),
    timer("who slept sleeps on", TIMER, "event->fire(event, frame); idle_end_sleep();", "event->fire(event, frame);"),
    timer(
        "an event that fires is still waiting",
        TIMER,
        "take_out(queue, event); event->fire(event, frame);",
        "event->fire(event, frame); take_out(queue, event);",
    ),
    timer("a limit has no interrupt", TIMER, "first < queue->limit ? first : queue->limit", "first"),
    timer("a limit hides what comes before", TIMER, "first < queue->limit ? first : queue->limit", "queue->limit"),
    timer("a limit is told of early", TIMER, "if (queue->limit <= now)", "if (queue->limit <= now + 50)"),
    timer("a limit is told of twice", TIMER, "queue->limit = TIMER_NEVER; thread_time_is_up(now);", "thread_time_is_up(now);"),
    timer("a gap is not counted", HEARTBEAT, "atomic_fetch_add_explicit(&pulse.gaps, 1, memory_order_relaxed);"),
    timer("missed beats are made up for", HEARTBEAT, "(missed + 1) * period", "period"),
    timer("sleep is delay", HEARTBEAT, "if (!idle_slept_since(event->deadline))", ""),
    timer("two hearts beat", HEARTBEAT, "timer_cancel(&beat_event);"),
    timer("a heart beats too fast", HEARTBEAT, "|| hz > FASTEST_HZ)", ")"),
    timer("a heart beats faster than VCPUs know", HEARTBEAT, "if (hz > HEARTBEAT_HZ && thread_begun())", "if (false)"),
    timer("no heart beats beside VCPUs", HEARTBEAT, "if (hz > HEARTBEAT_HZ && thread_begun())", "if (thread_begun())"),
    timer("no heart beats faster", HEARTBEAT, "if (hz > HEARTBEAT_HZ && thread_begun())", "if (hz > HEARTBEAT_HZ)"),
    timer("a fast heart counts as others do", HEARTBEAT, "beat_event.waits && period < usual ? period : usual;", "usual;"),
    timer("a slow heart counts as it beats", HEARTBEAT, "beat_event.waits && period < usual ?", "beat_event.waits ?"),
    timer("a heart that stands still counts as it did", HEARTBEAT, "beat_event.waits && period < usual ?", "period < usual ?"),
)
