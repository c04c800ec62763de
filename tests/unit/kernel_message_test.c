/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Messages, events and calls between threads on a core of the host, scene by scene: who gets what and when, and whose
 * budget a server runs on. kernel/core/{sync,thread}.c
 */
#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/cpu.h"
#include "kernel/core/sync.h"
#include "kernel/core/thread.h"
#include "thread_scene.h"

static struct queue letters;
static struct events events;
static struct port ports[3];
static char order[16]; /* who was served, by letter */
static unsigned ordered;

/* ---- Queues ----------------------------------------------------------------------------------------------------------- */

static uint64_t ring_words[2 * 2];
static char said[16]; /* messages that were received, a letter each */

static void open_queue(uint32_t room)
{
	letters = (struct queue){ .ring = ring_words, .words = 2, .room = room };
	memset(ring_words, 0, sizeof(ring_words));
	memset(said, 0, sizeof(said));
}

static enum thread_result send(char letter, uint64_t deadline)
{
	const uint64_t message[2] = { (uint64_t)letter, ~(uint64_t)letter };

	return queue_send(&letters, message, deadline);
}

static enum thread_result receive(uint64_t deadline)
{
	uint64_t message[2] = { '?', 0 };
	enum thread_result result = queue_receive(&letters, message, deadline);

	if (result == THREAD_OK)
		CHECK_EQ(message[1], ~message[0]);
	else
		CHECK(message[0] == '?' && message[1] == 0);
	said[strlen(said)] = (char)message[0];
	return result;
}

static void send_own_name(void)
{
	CHECK_EQ(send(thread_running()->name[0], TIMER_NEVER), THREAD_OK);
	work(1);
}

static void receive_7(void)
{
	for (unsigned n = 0; n < 7; n++)
		CHECK_EQ(receive(TIMER_NEVER), THREAD_OK);
	work(1);
}

static void receive_one(void)
{
	CHECK_EQ(receive(TIMER_NEVER), THREAD_OK);
	work(1);
}

static void send_3(void)
{
	for (char letter = 'x'; letter <= 'z'; letter++)
		CHECK_EQ(send(letter, 0), THREAD_OK);
	work(1);
}

/* Two fit in; who waits to send comes by urgency, behind what is in already. Who waits to receive likewise. */
static void test_queue_order(void)
{
	const struct plan three = { .high = { 9, 10 }, .middle = { 8, 20 }, .low = { 90, 100 } };

	scene_begin("senders come in order", three);
	open_queue(2);
	scene_actor('l', &low, 0, 0, send_own_name);
	scene_actor('k', &low, 0, 0, send_own_name);
	scene_actor('j', &low, 1, 1, send_own_name);
	scene_actor('1', &middle, 1, 2, send_own_name);
	scene_actor('2', &middle, 0, 3, send_own_name);
	scene_actor('h', &high, 0, 4, send_own_name);
	scene_actor('i', &high, 0, 4, send_own_name);
	scene_actor('z', &low, 2, 5, receive_7);
	scene_expect("lk...hi21jz.");
	CHECK(strcmp(said, "lkhi21j") == 0);
	scene_begin("receivers come in order", three);
	open_queue(2);
	scene_actor('l', &low, 0, 0, receive_one);
	scene_actor('m', &middle, 0, 0, receive_one);
	scene_actor('h', &high, 0, 0, receive_one);
	scene_actor('s', &low, 1, 2, send_3);
	scene_expect("..hmls.");
	CHECK(strcmp(said, "xyz") == 0);
	CHECK_EQ(letters.count, 0);
}

static void send_by_interrupt(void)
{
	CHECK_EQ(send('i', 0), THREAD_OK);
}

static void send_at_2(void)
{
	fake_interrupt_at(START + 2, send_by_interrupt);
}

static void send_at_2_before_the_timer(void)
{
	fake_core.timer_last = true;
	send_at_2();
}

static void receive_until_2(void)
{
	CHECK_EQ(receive(START + 2), THREAD_OK);
	CHECK_EQ(receive(0), THREAD_E_TIMEOUT);
	CHECK_EQ(receive(START + 2), THREAD_E_TIMEOUT);
	work(1);
}

static void receive_after_2(void)
{
	CHECK_EQ(receive(START + 2), THREAD_E_TIMEOUT);
	fake_settle();
	CHECK_EQ(receive(0), THREAD_OK);
	work(1);
}

static void receive_by_interrupt(void)
{
	CHECK_EQ(receive(0), THREAD_OK);
}

static void receive_at_2(void)
{
	fake_interrupt_at(START + 2, receive_by_interrupt);
}

static void receive_at_2_before_the_timer(void)
{
	fake_core.timer_last = true;
	receive_at_2();
}

static void send_until_2(void)
{
	CHECK_EQ(send('a', 0), THREAD_OK);
	CHECK_EQ(send('b', 0), THREAD_E_TIMEOUT);
	CHECK_EQ(send('c', START + 2), THREAD_OK);
	CHECK(said[0] == 'a' && letters.count == 1 && ring_words[0] == 'c');
	work(1);
}

static void send_after_2(void)
{
	CHECK_EQ(send('a', 0), THREAD_OK);
	CHECK_EQ(send('c', START + 2), THREAD_E_TIMEOUT);
	fake_settle();
	CHECK(said[0] == 'a' && letters.count == 0);
	work(1);
}

/* The message and the end of the wait come at the same tick: whichever is served first decides, and nothing is lost or comes twice. */
static void test_queue_timeouts(void)
{
	scene_begin("a message at the last moment", scene_two(9, 10));
	open_queue(2);
	scene_prepare(send_at_2_before_the_timer);
	scene_actor('r', &high, 0, 0, receive_until_2);
	scene_expect("..r.");
	CHECK(strcmp(said, "i??") == 0);
	scene_begin("a message too late", scene_two(9, 10));
	open_queue(2);
	scene_prepare(send_at_2);
	scene_actor('r', &high, 0, 0, receive_after_2);
	scene_expect("..r.");
	CHECK(strcmp(said, "?i") == 0);
}

static void test_room_timeouts(void)
{
	scene_begin("room at the last moment", scene_two(9, 10));
	open_queue(1);
	scene_prepare(receive_at_2_before_the_timer);
	scene_actor('s', &high, 0, 0, send_until_2);
	scene_expect("..s.");
	scene_begin("room too late", scene_two(9, 10));
	open_queue(1);
	scene_prepare(receive_at_2);
	scene_actor('s', &high, 0, 0, send_after_2);
	scene_expect("..s.");
}

/* ---- Events ----------------------------------------------------------------------------------------------------------- */

static uint32_t wait_for(uint32_t wanted, bool all, uint64_t deadline, enum thread_result expected)
{
	uint32_t found = 0x80;

	CHECK_EQ(events_wait(&events, wanted, all, deadline, &found), expected);
	CHECK(expected == THREAD_OK || found == 0x80);
	return found;
}

static void wait_for_events(void)
{
	memset(&events, 0, sizeof(events));
	events_set(&events, 0x15);
	CHECK_EQ(wait_for(0x3, false, 0, THREAD_OK), 0x1);
	CHECK_EQ(events.set, 0x14);
	wait_for(0x6, true, 0, THREAD_E_TIMEOUT);
	wait_for(0x6, true, START + 1, THREAD_E_TIMEOUT);
	CHECK_EQ(events.set, 0x14);
	CHECK_EQ(wait_for(0x14, true, TIMER_NEVER, THREAD_OK), 0x14);
	CHECK_EQ(events.set, 0);
	CHECK_EQ(wait_for(0x3, true, TIMER_NEVER, THREAD_OK), 0x3); /* at 3, not at 2 */
	CHECK_EQ(scene_time(), 3);
	CHECK_EQ(events.set, 0x4);
	CHECK_EQ(wait_for(0x3, false, TIMER_NEVER, THREAD_OK), 0x2);
	CHECK_EQ(scene_time(), 5);
	CHECK_EQ(events.set, 0xc);
	CHECK(fake_cpu.enabled);
	work(1);
}

static void set_events(void)
{
	CHECK_EQ(thread_sleep_until(START + 2), THREAD_OK);
	events_set(&events, 0x1);
	wait_for(0x40, false, TIMER_NEVER, THREAD_E_FULL);
	CHECK_EQ(events.wanted, 0x3);
	work(1);
	events_set(&events, 0x6);
	work(1);
	events_set(&events, 0x8);
	work(1);
	events_set(&events, 0x2);
	work(1);
}

static void set_bit(void)
{
	events_set(&events, 1);
}

static void set_bit_at_2(void)
{
	fake_interrupt_at(START + 2, set_bit);
}

static void wait_for_bit(void)
{
	memset(&events, 0, sizeof(events));
	CHECK_EQ(wait_for(1, false, TIMER_NEVER, THREAD_OK), 1);
	work(1);
}

static void steal_bit(void)
{
	work(3);
	wait_for(1, false, 0, THREAD_E_TIMEOUT);
	work(1);
}

static void test_events(void)
{
	scene_begin("events", scene_two(9, 10));
	scene_actor('w', &high, 0, 0, wait_for_events);
	scene_actor('s', &low, 0, 0, set_events);
	scene_expect("..sssws.");
	/* 's' runs when the bit comes, and asks before 'w' can run. */
	scene_begin("events are whose wait they have ended", scene_two(9, 10));
	scene_prepare(set_bit_at_2);
	scene_actor('w', &low, 0, 0, wait_for_bit);
	scene_actor('s', &high, 0, 1, steal_bit);
	scene_expect(".ssssw.");
}

/* ---- Calls ------------------------------------------------------------------------------------------------------------ */

/* A message is a number. Server 0 works for a tick and adds 1, which needs no help; server 1 has server 0 add 1 to it twice. */
static void serve_0(void)
{
	uint64_t *message;

	for (;;) {
		message = port_reply_and_receive(&ports[0]);
		CHECK(fake_cpu.enabled);
		CHECK_EQ(thread_sleep_until(START + 50), THREAD_E_HOLDS);
		work((unsigned)(*message / 1000));
		++*message;
		order[ordered++] = ports[0].client->name[0];
	}
}

static void serve_1(void)
{
	uint64_t *message;

	for (;;) {
		message = port_reply_and_receive(&ports[1]);
		work(1);
		for (unsigned n = 0; n < 2; n++)
			CHECK_EQ(port_call(&ports[0], message), THREAD_OK);
		CHECK_EQ(port_call(&ports[1], message), THREAD_E_DEADLOCK);
		work(1);
	}
}

static void open_ports(void)
{
	memset(ports, 0, sizeof(ports));
	memset(order, 0, sizeof(order));
	ordered = 0;
	ports[0].server.thread = &scene_actor('s', NULL, 0, 0, serve_0)->thread;
	ports[1].server.thread = &scene_actor('t', NULL, 0, 0, serve_1)->thread;
}

static void call(unsigned n, uint64_t message, uint64_t answer)
{
	CHECK_EQ(port_call(&ports[n], &message), THREAD_OK);
	CHECK_EQ(message, answer);
	CHECK(fake_cpu.enabled);
	work(1);
}

static void call_0(void)
{
	call(0, 2000, 2001);
	call(0, 1000, 1001);
}

static void call_1(void)
{
	call(1, 1000, 1002);
}

static void call_nobody(void)
{
	uint64_t message = 5;

	CHECK_EQ(port_call(&ports[2], &message), THREAD_E_INVALID);
	CHECK_EQ(message, 5);
	CHECK(fake_cpu.enabled);
	work(1);
}

static void call_long(void)
{
	call(0, 6000, 6001);
}

static void call_short(void)
{
	call(0, 1000, 1001);
}

static void test_calls(void)
{
	scene_begin("a call", scene_two(90, 100));
	open_ports();
	scene_actor('a', &high, 0, 0, call_0);
	scene_actor('b', &high, 0, 0, call_nobody);
	scene_expect("ssasab.");
	CHECK_EQ(high.vcpu.given, 6);
	scene_begin("a call in a call", scene_two(90, 100));
	open_ports();
	scene_actor('a', &high, 0, 0, call_1);
	scene_actor('b', &low, 0, 0, call_0);
	scene_expect("tsstassbsb.");
	CHECK_EQ(high.vcpu.given, 5);
	scene_begin("callers come in order", (struct plan){ .high = { 9, 10 }, .middle = { 18, 20 }, .low = { 90, 100 } });
	open_ports();
	scene_actor('l', &low, 0, 0, call_short);
	scene_actor('k', &low, 0, 0, call_long);
	scene_actor('1', &middle, 1, 3, call_short);
	scene_actor('2', &middle, 0, 4, call_short);
	scene_actor('h', &high, 0, 5, call_short);
	scene_expect("slssssssshs2s1k.");
	CHECK(strcmp(order, "lkh21") == 0);
}

/* The caller's budget ends inside. Alone, it waits for more; another caller has the server go on. */
static void test_budget_ends_in_call(void)
{
	scene_begin("a budget ends in a call", (struct plan){ .high = { 4, 10 }, .low = { 3, 40 }, .foreground_only = true });
	open_ports();
	scene_actor('h', &high, 0, 0, call_long);
	scene_actor('l', &low, 0, 5, work_1);
	scene_expect("ssss.l....ssh...");
	scene_begin("a budget ends in a call, and others wait",
		    (struct plan){ .high = { 4, 10 }, .low = { 30, 40 }, .foreground_only = true });
	open_ports();
	scene_actor('h', &high, 0, 0, call_long);
	scene_actor('l', &low, 0, 5, call_short);
	scene_expect("ssss.sssl.h...");
	CHECK_EQ(high.vcpu.given, 5);
	CHECK_EQ(low.vcpu.given, 4);
}

static struct mutex mutex;
static unsigned refused;

static void serve_holding(void)
{
	for (;;) {
		uint64_t *message = port_reply_and_receive(&ports[2]);

		CHECK(message && fake_cpu.enabled);
		CHECK(!port_reply_and_receive(&ports[1])); /* it serves another port */
		CHECK_EQ(mutex_lock(&mutex), THREAD_OK);
		CHECK(!port_reply_and_receive(&ports[2]) && fake_cpu.enabled);
		refused++;
		work(2);
		++*message;
		CHECK_EQ(mutex_unlock(&mutex), THREAD_OK);
	}
}

static void call_2(void)
{
	call(2, 7, 8);
}

static void lock_and_work(void)
{
	CHECK_EQ(mutex_lock(&mutex), THREAD_OK);
	CHECK(!port_reply_and_receive(&ports[2])); /* it is no server */
	work(1);
	CHECK_EQ(mutex_unlock(&mutex), THREAD_OK);
}

static void test_server_that_holds(void)
{
	scene_begin("a server that holds a mutex gets no call", scene_two(90, 100));
	memset(ports, 0, sizeof(ports));
	memset(&mutex, 0, sizeof(mutex));
	refused = 0;
	ports[2].server.thread = &scene_actor('s', NULL, 0, 0, serve_holding)->thread;
	scene_actor('a', &high, 1, 0, call_2);
	scene_actor('b', &high, 0, 1, lock_and_work);
	scene_expect("ssba.");
	CHECK_EQ(refused, 1);
}

/* 's' is said to be the server of two ports, and is that of the one that is called first. */
static void serve_of_two(void)
{
	for (;;) {
		uint64_t *message = port_reply_and_receive(&ports[0]);

		CHECK(message);
		CHECK(!port_reply_and_receive(&ports[1]) && fake_cpu.enabled);
		CHECK(ports[0].client && ports[0].received);
		work(3);
		++*message;
	}
}

static void call_first(void)
{
	call(0, 7, 8);
}

static void call_other(void)
{
	uint64_t message = 5;

	CHECK_EQ(port_call(&ports[1], &message), THREAD_E_INVALID);
	CHECK(message == 5 && !ports[1].client && fake_cpu.enabled);
	work(1);
	call(0, 10, 11);
	CHECK_EQ(port_call(&ports[1], &message), THREAD_E_INVALID);
}

static void test_two_ports(void)
{
	scene_begin("a server of two ports", scene_two(90, 100));
	memset(ports, 0, sizeof(ports));
	ports[0].server.thread = ports[1].server.thread = &scene_actor('s', NULL, 0, 0, serve_of_two)->thread;
	scene_actor('a', &low, 0, 0, call_first);
	scene_actor('b', &high, 0, 1, call_other);
	scene_expect("sbsssssba...");
}

int main(void)
{
	test_queue_order();
	test_queue_timeouts();
	test_room_timeouts();
	test_events();
	test_calls();
	test_budget_ends_in_call();
	test_server_that_holds();
	test_two_ports();
	return 0;
}
