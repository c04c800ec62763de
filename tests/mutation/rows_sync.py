# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the sandbox kernel's threads, and in what they synchronize with."""

from tests.mutation.mutation import Mutation
from tests.mutation.rows_sched import SCHED_FILES

THREAD, SYNC, VCPU = (f"kernel/core/{name}.c" for name in ("thread", "sync", "thread_vcpu"))
SCENES = ("thread", "sync", "message", "move", "slice")
SYNC_PROGRAMS = {f"kernel_{name}_test": f"tests/unit/kernel_{name}_test.c" for name in (*SCENES, "threads")}
CORE = [
    THREAD,
    SYNC,
    *(
        f"kernel/core/{name}.c"
        for name in ("thread_end", "thread_move", "thread_slice", "thread_vcpu", "timer", "clock", "trace", "trace_sched")
    ),
    *(f"tests/unit/{name}.c" for name in ("fake_threads", "fake_ends", "fake_cpu")),
    *SCHED_FILES,
]
SYNC_PARTS = {f"kernel_{name}_test": [*CORE, "tests/unit/thread_scene.c"] for name in SCENES}
SYNC_PARTS["kernel_threads_test"] = [*CORE, "tests/unit/thread_model.c"]


def thread(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"threads: {what}", THREAD, old, new, "kernel_threads_test")


def scene(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"threads: {what}", THREAD, old, new, "kernel_thread_test")


def sync(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"sync: {what}", SYNC, old, new, "kernel_threads_test")


def mutex(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"sync: {what}", SYNC, old, new, "kernel_sync_test")


def watched(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"sync: {what}", SYNC, old, new, "kernel_change_test")


def message(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"sync: {what}", SYNC, old, new, "kernel_message_test")


TURNS = (
    thread("who waits runs itself", "while (thread->behind) thread = thread->behind->thread;"),
    thread("only the next one of a chain runs", "while (thread->behind) thread =", "if (thread->behind) thread ="),
    thread(
        "the last level comes first",
        "*thread = on->first[__builtin_ctz(on->levels)]",
        "*thread = on->first[31 - __builtin_clz(on->levels)]",
    ),
    thread(
        "who becomes ready comes first of its level",
        "thread->prev->next = thread->next->prev = thread; return;",
        "thread->prev->next = thread->next->prev = thread; *first = thread; return;",
    ),
    thread(
        "who becomes ready comes second of its level",
        "thread->prev = (*first)->prev; thread->prev->next = thread->next->prev = thread;",
        "thread->prev = *first; thread->next = (*first)->next; thread->prev->next = thread->next->prev = thread;",
    ),
    thread("a level that has a thread is not noted", "on->levels |= 1U << thread->level;"),
    thread("all threads are of one level", "if (on->levels >> thread->level & 1)", "if (on->levels)"),
    thread("the last one of a level stays", "if (thread->next == thread)", "if (false)"),
    thread("who goes takes all levels along", "on->levels &= ~(1U << thread->level);", "on->levels = 0;"),
    thread("an empty level has a thread", "on->levels &= ~(1U << thread->level);"),
    thread("the first of a level stays first when it goes", "if (*first == thread) *first = thread->next;"),
    thread(
        "after the first of a level the last one comes",
        "if (*first == thread) *first = thread->next;",
        "if (*first == thread) *first = thread->prev;",
    ),
    thread("who goes is still behind another", "thread->prev->next = thread->next; thread->next->prev", "thread->next->prev"),
    thread("who goes is still before another", "thread->next->prev = thread->prev; if", "if"),
    thread("who runs is not noted", "core->running = next;"),
    thread("the scheduler is never asked", "if (core->decide) {", "if (false) {"),
    thread(
        "the timer is not set for the end of a budget",
        "timer_limit(core->has_slices ? until_by_slice(core) : core->sched.until);",
    ),
    thread("a handler switches", "if (!core->in_interrupt) go_on(core);", "go_on(core);"),
    thread("nobody switches before an interrupt", "if (!core->in_interrupt) go_on(core);"),
    thread("who is ready does not come to its VCPU", "append(thread->on, thread); if", "if"),
    thread("a VCPU is not ready with its first thread", "bool first = !thread->on->levels;", "bool first = false;"),
    thread("the scheduler is not told of who is ready", "sched_ready(&core->sched, &thread->on->vcpu, time_now(core));"),
    thread(
        "a VCPU that is ready changes nothing",
        "trace_ready(&thread->on->vcpu); core->decide = true;",
        "trace_ready(&thread->on->vcpu);",
    ),
    thread("who waits is ready", "thread->ready = false; drop", "drop"),
    thread("who waits stays in its VCPU", "drop(thread->on, thread); if", "if"),
    thread("a VCPU never goes idle", "if (!thread->on->levels) { sched_idle", "if (false) { sched_idle"),
    thread("a VCPU goes idle with each thread", "if (!thread->on->levels) { sched_idle", "if (true) { sched_idle"),
    thread("the scheduler is not told of who is idle", "sched_idle(&core->sched, &thread->on->vcpu, time_now(core));"),
    thread(
        "a VCPU that is idle changes nothing",
        "BH_TRACE_SLEEP, thread->on->row, 0, 0); core->decide = true;",
        "BH_TRACE_SLEEP, thread->on->row, 0, 0);",
    ),
    thread("nobody yields", "*first = (*first)->next;"),
    thread("a yield takes effect later", "*first = (*first)->next; go_on(core);", "*first = (*first)->next;"),
    thread(
        "a yield leaves interrupts disabled",
        "go_on(core); cpu_interrupts_restore(enabled); } /* ---- Interrupts",
        "go_on(core); } /* ---- Interrupts",
    ),
)

INTERRUPTS = (
    thread("a budget's end changes nothing", "core->decide = true; if (pays)", "if (pays)"),
    thread("an interrupt does not begin", "core->in_interrupt = true;"),
    thread("an interrupt began when the one before did", "core->entered = arch_counter();"),
    thread(
        "an interrupt is for who caused the last one",
        "core->entered = arch_counter(); core->cause = NULL;",
        "core->entered = arch_counter();",
    ),
    thread("an interrupt at a budget's end is nobody's", "return !sched_is_spent(&core->sched, core->entered) ||", "return true ||"),
    thread("who is spent pays for others' timers", "|| (core->cause && core->cause != core->sched.running)"),
    thread(
        "all interrupts are charged",
        "if (is_excepted(core)) trace_except(&core->sched, core->entered, arch_counter()",
        "if (false) trace_except(&core->sched, core->entered, arch_counter()",
    ),
    thread("nobody owes an interrupt that came to nobody", "if (!core->sched.running && !core->cause)", "if (!core->sched.running)"),
    thread("nobody owes a time-out", "arch_counter(), core->cause);", "arch_counter(), NULL);"),
    thread("whose time-out it is is not noted", "pay(this_core(), &thread->on->vcpu); thread_wake", "thread_wake"),
    Mutation(
        "io: goes by whom it served last",
        "kernel/sched/sched.c",
        "get_ready(core, vcpu, vcpu->order, now)",
        "get_ready(core, vcpu, period_of(vcpu), now)",
        "sched_pibs_test",
    ),
    Mutation(
        "heart: nobody is told that a report is due",
        "kernel/core/heartbeat.c",
        "beats % REPORT_BEATS == 0 ||",
        "",
        "kernel_timer_test",
    ),
    Mutation(
        "edges: who runs on is replenished",
        "kernel/sched/sched.c",
        "core->foreground && found == core->running ? NULL : found",
        "found",
        "sched_edges_test",
    ),
    scene("nobody pays for replenishments", "if (pays) pay(core, pays);"),
    thread(
        "who is replenished pays for the end of another's budget",
        "core->sched.next > now || sched_is_spent(&core->sched, core->entered)",
        "core->sched.next > now",
    ),
    scene("of two that an interrupt is for the last one pays", "if (core->cause && core->cause != vcpu) settle(core);"),
    scene("who has paid his part pays again", "core->cause); core->entered = now;", "core->cause);"),
    scene(
        "the first of two pays nothing",
        "trace_except(&core->sched, core->entered, now, core->cause);",
        "trace_except(&core->sched, core->entered, now, NULL);",
    ),
    thread(
        "of several timers' parts the first is nobody's",
        "if (is_excepted(core)) trace_except(&core->sched, core->entered, now, core->cause);",
    ),
    thread("who moves owes what was before", "if (core->in_interrupt) pay(core, &on->vcpu);", "pay(core, &on->vcpu);"),
    scene(
        "the main program is asked when it does not wait",
        "if (core->due && core->due()) { core->due = NULL;",
        "if (core->due && core->due()) {",
    ),
    scene("any interrupt wakes the main program", "if (core->due && core->due())", "if (core->due)"),
    scene("the main program sleeps on", "thread_wake(&core->main); } core->in_interrupt", "} core->in_interrupt"),
    thread("an interrupt never ends", "core->in_interrupt = false;"),
    thread("an interrupt is charged to who ran", "account(core); go_on(core);", "go_on(core);"),
    thread("who was interrupted goes on", "account(core); go_on(core);", "account(core);"),
)

WAITING = (
    thread(
        "urgency is the level alone",
        "return (vcpu->kind == VCPU_MAIN ? vcpu->main.period : vcpu->io.period) * THREAD_LEVELS + thread->level;",
        "return thread->level;",
    ),
    thread("urgency is the period alone", "* THREAD_LEVELS + thread->level;", "* THREAD_LEVELS;"),
    thread("who has no VCPU comes first", "return UINT64_MAX;", "return 0;"),
    thread(
        "who is woken still waits",
        "void thread_wake(struct thread *thread) { if (thread->waits_in) { heap_take_out(thread->waits_in, &thread->wait);",
        "void thread_wake(struct thread *thread) { if (thread->waits_in) {",
    ),
    thread(
        "who is woken is taken out again",
        "void thread_wake(struct thread *thread) { if (thread->waits_in) { heap_take_out(thread->waits_in, &thread->wait); thread->waits_in = NULL;",
        "void thread_wake(struct thread *thread) { if (thread->waits_in) { heap_take_out(thread->waits_in, &thread->wait);",
    ),
    thread("who is woken runs out of time all the same", "if (thread->timeout.waits) forget_timeout(thread);"),
    scene(
        "the timer of who is woken comes all the same",
        "if (thread->on->levels) timer_cancel(&thread->timeout); else timer_take_out",
        "timer_take_out",
    ),
    thread("a time-out is a success", "thread->timed_out = true;"),
    thread("a time-out wakes nobody", "thread_wake(thread); } enum thread_result thread_wait", "} enum thread_result thread_wait"),
    thread("who waits has the urgency of the last time", "self->wait.key = thread_key(self); self->waits_in", "self->waits_in"),
    thread("who waits does not know for what", "self->waits_in = heap;"),
    thread("who waits is not known", "heap_add(heap, &self->wait); } self->timed_out", "} self->timed_out"),
    thread("one time-out is for ever", "self->timed_out = false;"),
    thread("nobody runs out of time", "timer_add(&self->timeout, deadline);"),
    thread("who waits runs on", "make_idle(core, self); go_on(core); return", "make_idle(core, self); return"),
    thread("who holds sleeps", "if (!thread_is_held_to_run(self) && at > arch_counter())", "if (at > arch_counter())"),
    thread(
        "a sleep until now is one",
        "if (!thread_is_held_to_run(self) && at > arch_counter())",
        "if (!thread_is_held_to_run(self) && at >= arch_counter())",
    ),
    thread(
        "who holds is told that it slept",
        "return thread_is_held_to_run(self) ? THREAD_E_HOLDS : THREAD_OK; } void thread_wait_until",
        "return THREAD_OK; } void thread_wait_until",
    ),
    scene("the main program waits for nothing", "this_core()->due = due;"),
    scene(
        "the main program does not ask before it sleeps",
        "while (!due() && !this_core()->called) { if (thread_is_held_to_run",
        "for (bool first = true; first || (!due() && !this_core()->called); first = false) { if (thread_is_held_to_run",
    ),
)

MAKING = (
    scene("a thread begins with interrupts disabled", "cpu_interrupts_enable(); entry(argument);", "entry(argument);"),
    scene("an argument is lost", "state->argument = (uintptr_t)argument;"),
    scene("who is new stands behind somebody", "thread->behind = NULL; thread->level", "thread->level"),
    scene(
        "a new thread waits", "thread->ready = false; thread->waits_in = NULL; thread->timeout", "thread->ready = false; thread->timeout"
    ),
    scene("a new thread has a time-out", "thread->timeout.waits = false;"),
    Mutation(
        "threads: a server may sleep", THREAD, "thread->held = on ? NULL : &sync_no_vcpu;", "thread->held = NULL;", "kernel_message_test"
    ),
    scene("a level too many", "if (level >= THREAD_LEVELS || !entry)", "if (level > THREAD_LEVELS || !entry)"),
    scene("a thread without a stack", "if (!stack) return THREAD_E_NOMEM; init", "init"),
    scene(
        "who is made waits for the next interrupt",
        "make_ready(this_core(), thread); thread_reschedule();",
        "make_ready(this_core(), thread);",
    ),
    Mutation(
        "threads: a refused VCPU is in traces",
        VCPU,
        "from); if (result == SCHED_OK) tell(on, budget",
        "from); tell(on, budget",
        "kernel_thread_test",
    ),
    scene("threads begin anew", "if (!thread_begun()) {", "if (true) {"),
    scene("threads without memory", "result = core ? begin_core(core) : THREAD_E_NOMEM;", "result = begin_core(core);"),
    scene("a core without an idle thread", "if (!core->idle.stack) return THREAD_E_NOMEM;"),
    scene("a core without its main program's VCPU has threads", "thread_cores[cpu_slot()] = NULL;"),
    scene("an idle thread's stack that was taken in vain is kept", "stacks_give(core->idle.stack);"),
    scene("what was taken in vain is kept", "frames_give((uintptr_t)core, CORE_FRAMES, FRAME_PROGRAM);", ";"),
    Mutation(
        "threads: the main program's VCPU is not told of",
        VCPU,
        "rank < thread_sched()->count;",
        "rank + 1 < thread_sched()->count;",
        "kernel_thread_test",
    ),
)

SEMAPHORES = (
    mutex("who holds may not look", "if (deadline == 0) return THREAD_E_TIMEOUT;"),
    sync("who holds waits", "if (thread_is_held_to_run(self)) return THREAD_E_HOLDS;"),
    sync("a wait until now is one", "deadline <= arch_counter())", "deadline < arch_counter())"),
    sync("what is handed over has no place", "self->message = message; return", "return"),
    sync("who is woken runs later", "thread_wake(thread); thread_reschedule();", "thread_wake(thread);"),
    sync("a semaphore has no limit", "(semaphore->most ? semaphore->most : UINT32_MAX)", "UINT32_MAX"),
    mutex("a semaphore without a limit is full", "(semaphore->most ? semaphore->most : UINT32_MAX)", "semaphore->most"),
    sync("what is given is lost", "semaphore->count++;"),
    sync("what is given is handed over and counted", "else result = count_up(semaphore);", "result = count_up(semaphore);"),
    sync(
        "what is given is counted only",
        "if (semaphore->waiting.top) wake(thread_first_waiting(&semaphore->waiting)); else result",
        "result",
    ),
    sync("what is taken stays", "semaphore->count--;", ";"),
)

MUTEXES = (
    sync("a circle of three is none", "while (first != self && first->behind)", "if (first != self && first->behind)"),
    sync("a mutex closes circles", "if (leads_to(mutex->holder.thread, thread_running())) return THREAD_E_DEADLOCK;"),
    sync("who stands behind has the urgency of the last time", "self->wait.key = urgency(self);"),
    mutex("who stands behind is as urgent as itself alone", "self->wait.key = urgency(self);", "self->wait.key = thread_key(self);"),
    mutex(
        "only the last mutex that is held counts",
        "for (const struct mutex *mutex = thread->held; mutex; mutex = mutex->next_held)",
        "const struct mutex *mutex = thread->held; if (mutex)",
    ),
    mutex("who is waited for is as urgent as before", "hasten(donee->thread, self->wait.key);"),
    mutex(
        "only the next one of a chain is hastened",
        "for (; first->behind && key < first->wait.key; first = first->behind->thread)",
        "if (first->behind && key < first->wait.key)",
    ),
    sync("who is urgent is delayed", "first->behind && key < first->wait.key;", "first->behind;"),
    sync("who is hastened waits where it did", "heap_hasten(first->waits_in, &first->wait, key);", "first->wait.key = key;"),
    mutex("nobody is hastened whose call is served", "else first->wait.key = key;", "else break;"),
    sync("whose call is served waits in a heap", "self->waits_in = waiting; if", "self->waits_in = (struct heap *)1; if"),
    sync("who comes next is hastened where it waited", "first->waits_in = NULL; } return first;", "} return first;"),
    mutex(
        "a server is as urgent as itself alone",
        "return thread->serves ? lesser(key, first_key_of_port(thread->serves)) : key;",
        "return key;",
    ),
    mutex(
        "a server is not as urgent as who waits for its turn",
        "lesser(port->client->wait.key, first_key(&port->waiting))",
        "port->client->wait.key",
    ),
    sync(
        "a server is not as urgent as whom it serves",
        "lesser(port->client->wait.key, first_key(&port->waiting))",
        "first_key(&port->waiting)",
    ),
    sync("who stands behind is not known", "if (waiting) heap_add(waiting, &self->wait);"),
    sync("who stands behind runs", "self->behind = donee;"),
    sync(
        "who stands behind runs on", "hasten(donee->thread, self->wait.key); thread_reschedule();", "hasten(donee->thread, self->wait.key);"
    ),
    sync(
        "who comes next still waits",
        "heap_remove(waiting, &first->wait); first->waits_in = NULL; } return first;",
        "first->waits_in = NULL; } return first;",
    ),
    sync("who takes a free mutex may sleep", "mutex->next_held = thread->held; thread->held = mutex;"),
    sync("a free mutex stays free", "else hold(thread_running(), mutex);", ";"),
    sync("who unlocks may not sleep", "hold_no_more(holder, mutex); mutex->holder.thread = NULL;", "mutex->holder.thread = NULL;"),
    sync("who unlocks holds", "mutex->holder.thread = NULL; if (!next) return false;", "if (!next) return false;"),
    sync("who has the mutex stands behind itself", "next->behind = NULL; hold(next, mutex);", "hold(next, mutex);"),
    sync("who is handed a mutex does not have it", "next->behind = NULL; hold(next, mutex);", "next->behind = NULL;"),
    sync("who is handed a mutex runs later", "if (hand_on(mutex, self)) thread_reschedule();", "hand_on(mutex, self);"),
    sync("a mutex in the middle is the last one taken", "if (thread->held == mutex)", "if (true)"),
    sync("anybody unlocks", "if (mutex->holder.thread == self) {", "if (true) {"),
    mutex("anybody is told that it unlocks", "enum thread_result result = THREAD_E_OWNER;", "enum thread_result result = THREAD_OK;"),
)

QUEUES = (
    sync("a message loses its end", "for (uint32_t n = 0; n < words; n++)", "for (uint32_t n = 0; n + 1 < words; n++)"),
    message("only the first word of a message is copied", "for (uint32_t n = 0; n < words; n++)", "for (uint32_t n = 0; n < 1; n++)"),
    sync("a queue does not turn round", "(at < queue->room ? at : at - queue->room)", "at"),
    message(
        "messages lie a word apart",
        "(size_t)(at < queue->room ? at : at - queue->room) * queue->words",
        "(at < queue->room ? at : at - queue->room)",
    ),
    sync("who waits for a message gets none", "copy(receiver->message, message, queue->words); wake(receiver);", "wake(receiver);"),
    sync(
        "who has a message waits on",
        "copy(receiver->message, message, queue->words); wake(receiver);",
        "copy(receiver->message, message, queue->words);",
    ),
    sync("who waits for a message is passed by", "if (receiver) { copy", "if (false) { copy"),
    sync("a message is not counted", "copy(place(queue, queue->count++), message", "copy(place(queue, queue->count), message"),
    sync("a full queue has room", "if (queue->count < queue->room) put", "if (queue->count <= queue->room) put"),
    sync("the last place stays free", "if (queue->count < queue->room) put", "if (queue->count + 1 < queue->room) put"),
    sync("senders wait with receivers", "wait_in(&queue->senders,", "wait_in(&queue->receivers,"),
    sync("a message is received twice", "queue->first = queue->first + 1 == queue->room ? 0 : queue->first + 1;"),
    sync("the first place is past the end", "queue->first + 1 == queue->room ? 0 : queue->first + 1", "queue->first + 1"),
    sync("a message that was received is counted", "queue->count--;"),
    sync("who waits for room sends nothing", "copy(place(queue, queue->count++), sender->message, queue->words);"),
    sync("who has sent waits on", "wake(sender);"),
    sync("an empty queue has a message", "if (queue->count) take", "if (true) take"),
)

EVENTS = (
    sync("new events drive out others", "events->set |= bits;", "events->set = bits;"),
    sync("any event is all", "return all ? (events->set & wanted) == wanted : events->set & wanted;", "return events->set & wanted;"),
    sync(
        "all events are needed for any",
        "return all ? (events->set & wanted) == wanted : events->set & wanted;",
        "return (events->set & wanted) == wanted;",
    ),
    sync("all events are exactly these", "(events->set & wanted) == wanted", "events->set == wanted"),
    sync("any event wakes", "if (events->waiting.top && are_there(events, events->wanted, events->all))", "if (events->waiting.top)"),
    sync("events wake nobody", "wake(first);"),
    sync("events stay", "events->set &= ~wanted;"),
    sync("all events go", "events->set &= ~wanted;", "events->set = 0;"),
    message(
        "events are anybody's until who waited runs",
        "*(uint32_t *)first->message = take_events(events, events->wanted);",
        "*(uint32_t *)first->message = events->set & events->wanted;",
    ),
    sync(
        "which events there were is not told",
        "*(uint32_t *)first->message = take_events(events, events->wanted);",
        "take_events(events, events->wanted);",
    ),
    sync("which events there are is not told", "*found = take_events(events, wanted);", "take_events(events, wanted);"),
    sync("two wait for events", "if (events->waiting.top) return THREAD_E_FULL;"),
    sync("what is waited for is as it was", "events->wanted = wanted;"),
    sync("whether all is waited for is as it was", "events->all = all;"),
)

CALLS = (
    message("a call of nobody", "if (!server || server->on) return THREAD_E_INVALID;"),
    message("a server of one port is called at another", "if (server->serves && server->serves != port) return THREAD_E_INVALID;"),
    message("a server of a port that is called has no other call", "if (server->serves && server->serves != port)", "if (server->serves)"),
    message("a server has calls of another port", "self->serves == port &&", "self == port->server.thread &&"),
    sync("a call closes circles", "if (leads_to(server, self)) return THREAD_E_DEADLOCK;"),
    sync("a call drives out another", "if (port->client) { stand_behind", "if (false) { stand_behind"),
    sync("who is served first is not noted", "port->client = self; stand_behind", "stand_behind"),
    sync("a call does not wait", "stand_behind(&port->server, NULL);", "thread_reschedule();"),
    sync(
        "a call waits for the next interrupt",
        "stand_behind(&port->server, NULL);",
        "self->wait.key = urgency(self); self->waits_in = NULL; self->behind = &port->server; hasten(server, self->wait.key);",
    ),
    sync("a call has no message", "self->message = message; result = call", "result = call"),
    sync("a reply goes to nobody", "port->client->behind = NULL;"),
    sync("nobody is served after the first", "port->client = take_first(&port->waiting);", "port->client = NULL;"),
    sync("the first call is replied to unseen", "if (port->received) reply(port);", "if (port->client) reply(port);"),
    sync("no call is replied to", "if (port->received) reply(port);"),
    sync("a server has a message before there is one", "thread_reschedule(); port->received = true;", "port->received = true;"),
)

HOLDERS = (
    message(
        "a server that holds a mutex has a call",
        "self->serves == port && self->held == &sync_no_vcpu ?",
        "self->serves == port ?",
    ),
    message("anybody has a call", "self->serves == port && self->held == &sync_no_vcpu ?", "self->held == &sync_no_vcpu ?"),
    Mutation(
        "threads: the main program sleeps holding",
        THREAD,
        "if (thread_is_held_to_run(thread_running())) {",
        "if (false) {",
        "kernel_sync_test",
    ),
)

PERIODS = (
    mutex("the first period is over at once", ".next = now + period }", ".next = now }"),
    mutex(
        "who holds waits for a period",
        "if (thread_is_held_to_run(thread_running())) return THREAD_E_HOLDS; if (!periodic->period)",
        "if (!periodic->period)",
    ),
    mutex(
        "a period is missed before its end",
        "(now - periodic->next) / periodic->period : 0",
        "(now - periodic->next) / periodic->period + 1 : 0",
    ),
    mutex("missed periods are not counted", "periodic->missed += periodic->missed_now;"),
    mutex("missed periods are made up for", "periodic->next += periodic->missed_now * periodic->period;"),
    mutex(
        "a period does not last",
        "thread_sleep_until(periodic->next); periodic->next += periodic->period;",
        "thread_sleep_until(periodic->next);",
    ),
    Mutation("sync: who has a VCPU serves", SYNC, "if (!server || server->on)", "if (!server)", "kernel_move_test"),
    Mutation(
        "threads: who sleeps as long as another is watched pays nothing",
        THREAD,
        "pay(this_core(), &thread->on->vcpu); } /*",
        "this_core()->cause = &thread->on->vcpu; } /*",
        "kernel_change_test",
    ),
    Mutation(
        "threads: who is spent pays for who is watched",
        THREAD,
        "|| (core->cause && core->cause != core->sched.running)",
        "",
        "kernel_change_test",
    ),
    watched("nobody pays for being told of missed periods", "thread_pays_for_interrupt(periodic->thread);"),
    watched("each of several missed periods is told of", "late / periodic->period + 1;", "1;"),
    watched("who is told pays nothing for more", "(passed > least ? passed : least)", "passed"),
    watched(
        "the last of several missed periods is told of twice",
        "late / periodic->period + 1;",
        "late / periodic->period;",
    ),
    watched(
        "after several missed periods they begin anew",
        "event->deadline + until_next_told(periodic, late)",
        "arch_counter() + until_next_told(periodic, late)",
    ),
    watched("periods shorter than the VCPU's are told of", "periodic->period < self->on->vcpu.order", "false"),
    watched(
        "periods as long as the VCPU's are not told of",
        "periodic->period < self->on->vcpu.order",
        "periodic->period <= self->on->vcpu.order",
    ),
    watched("short periods have no end that stops", "(policy == PERIODIC_NOTIFY && periodic->period < self", "(periodic->period < self"),
    watched(
        "who has no VCPU is watched",
        "!self->on || (policy == PERIODIC_NOTIFY && periodic",
        "(policy == PERIODIC_NOTIFY && self->on && periodic",
    ),
    mutex("periods do not wait", "thread_sleep_until(periodic->next);"),
    mutex(
        "periods begin when the last was over",
        "periodic->next += periodic->period; return",
        "periodic->next = arch_counter() + periodic->period; return",
    ),
)

SYNCHRONIZATION = (*TURNS, *INTERRUPTS, *WAITING, *MAKING, *SEMAPHORES, *MUTEXES, *QUEUES, *EVENTS, *CALLS, *HOLDERS, *PERIODS)
