/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel's threads and their synchronization should do, said without heaps, rings and timers: threads with an order, things that
 * they wait for, and who runs by looking at all of them. kernel_threads_test.c does everything twice, here first.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/core/sync.h"
#include "kernel/core/thread.h"

enum { MODEL_THREADS = 12, MODEL_VCPUS = 6, MODEL_ROOM = 3 };

struct model_vcpu {
	struct thread_vcpu vcpu; /* the kernel's, of which the budget is read */
	uint64_t ticks;          /* with budget, to be charged or charged */
	uint64_t background;
	uint64_t owed; /* ever */
};

struct model_thread {
	struct thread thread;
	char name[2];
	struct model_vcpu *on; /* NULL: a server */
	unsigned level;
	bool ready;
	uint64_t turn; /* the lowest of a level and VCPU comes first */
	struct model_object *waits_in;
	bool sends;     /* of those that wait in a queue */
	uint64_t asked; /* when it began to wait, among all */
	uint64_t deadline, timer;
	struct model_object *behind; /* whose owner runs in its place */
	unsigned holds;
	enum thread_result result; /* of what it waits for */
	uint64_t word;             /* message; answer */
	uint32_t wanted, found;
	bool all;
};

struct model_object {
	/* the kernel's, of one kind */
	struct semaphore semaphore;
	struct mutex mutex;
	struct queue queue;
	struct events events;
	struct port port;
	uint64_t ring[MODEL_ROOM];
	/* the model's */
	uint32_t count, most, set;
	uint64_t words[MODEL_ROOM];
	struct model_thread *owner;  /* holder, server */
	struct model_thread *client; /* who is served, or will be next */
	bool received;
};

extern struct model {
	struct model_vcpu vcpus[MODEL_VCPUS]; /* by rank */
	struct model_thread threads[MODEL_THREADS];
	unsigned vcpu_count, thread_count;
	uint64_t turns, asks, timers;
	struct model_vcpu *cause; /* whose timeout the interrupt was for, of several the last one's */
	uint64_t entered;         /* when that began, or the one before had been paid for */
	uint64_t idle, excepted;
} model;

/* What a thread or a handler does. The first ones return the result, or note it: then the thread has it when it runs again. */
enum thread_result model_give(struct model_object *semaphore);
void model_take(struct model_thread *self, struct model_object *semaphore, uint64_t deadline, uint64_t now);
void model_lock(struct model_thread *self, struct model_object *mutex);
enum thread_result model_unlock(struct model_thread *self, struct model_object *mutex);
void model_send(struct model_thread *self, struct model_object *queue, uint64_t word, uint64_t deadline,
		uint64_t now); /* NULL: a handler */
void model_receive(struct model_thread *self, struct model_object *queue, uint64_t deadline, uint64_t now);
void model_set(struct model_object *events, uint32_t bits);
void model_wait(struct model_thread *self, struct model_object *events, uint64_t deadline, uint64_t now); /* for self->wanted, ->all */
void model_call(struct model_thread *self, struct model_object *port, uint64_t word);
void model_reply(struct model_object *port);
void model_sleep(struct model_thread *self, uint64_t at, uint64_t now);
void model_yield(struct model_vcpu *on);
enum thread_result model_move(struct model_thread *thread, struct model_vcpu *on);

/* An interrupt has come that took the processor from `runs`, NULL: from nobody; with budget or not. */
void model_enter(struct model_vcpu *runs, bool foreground, uint64_t now);
/* It ends. */
void model_leave(uint64_t now);
/* It is the timer's. */
void model_expire(uint64_t now);

/* Who runs: NULL, nobody. *on: on whose budget; *foreground: with budget. */
struct model_thread *model_runs(uint64_t now, struct model_vcpu **on, bool *foreground);
/* Ticks that the kernel has not charged yet. */
uint64_t model_uncharged(const struct model_vcpu *on);
