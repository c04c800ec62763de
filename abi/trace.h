/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sandbox kernel leaves in its RAM of what it did, for `tools/bulkhead trace` and the table of `run`: one structure, at the symbol
 * `trace_state`, accounts of VCPUs, and while it traces a ring of records for each core. Written by the sandbox alone, read from outside,
 * also after a crash: whoever reads believes nothing of it.
 *
 *   trace_state   core[0].ring ---> | record | record | ...  | record |    head % records is written next; where head > records, the
 *                 core[1].ring -->  another                                oldest have been overwritten, and that one may be half written
 *
 * Structures as in guest.h: fixed sizes, little-endian, naturally aligned. A new kind of record comes last; readers skip those that they do
 * not know. Whatever else changes raises BH_TRACE_VERSION.
 */
#pragma once
#include "guest.h"

enum {
	BH_TRACE_MAGIC = 0x52544842 /* "BHTR" */,
	BH_TRACE_VERSION = 3,
	BH_TRACE_VCPUS = 128,
	BH_TRACE_MOST_RECORDS = 1 << 19, /* of a core */
};

/* Times and amounts are ticks of the machine's common clock. VCPUs are rows of bh_trace.vcpu. */
enum bh_trace_kind {
	BH_TRACE_NONE,
	BH_TRACE_VCPU,        /* from now on `who` runs, 0: nobody; a: budget left; b: 1 in the foreground, 0 in the background */
	BH_TRACE_THREAD,      /* from now on the thread at `a` runs, whose name's text lies at `b` */
	BH_TRACE_CHARGED,     /* VCPU `who` has `a` of its budget left */
	BH_TRACE_USED_UP,     /* VCPU `who` has nothing left, and is ready; a: when it may run with budget again */
	BH_TRACE_REPLENISH,   /* VCPU `who` will have `a` back at `b` */
	BH_TRACE_READY,       /* a thread of VCPU `who` is ready, and none was; a: it may run with budget from then on */
	BH_TRACE_SLEEP,       /* no thread of VCPU `who` is ready any more */
	BH_TRACE_EXCEPTED,    /* the last `a` were an interrupt's, and not charged to who runs; VCPU `who`, 0: nobody, owes them */
	BH_TRACE_IRQ_BEGIN,   /* of the number `who` */
	BH_TRACE_IRQ_END,     /* likewise */
	BH_TRACE_EXITS,       /* exits of this core so far, for the reason `who` (enum bh_exit_reason): a */
	BH_TRACE_MSG_SEND,    /* a: a number that this message alone has in its sandbox */
	BH_TRACE_MSG_RECEIVE, /* likewise */
	BH_TRACE_CHANGED,     /* VCPU `who` has the budget `a` and the period `b` from now on */
	BH_TRACE_KINDS,
};

struct bh_trace_record {
	uint64_t clock;
	uint64_t a;
	uint64_t b;
	uint32_t who;
	uint32_t kind; /* enum bh_trace_kind */
};

struct bh_trace_core {
	uint64_t ring;    /* address of its first record; 0: this core has none */
	uint64_t head;    /* records ever written */
	uint64_t records; /* that there is room for: a power of two */
	uint64_t charged; /* address of the time up to which VCPUs of this core have been charged; 0: there are none */
};

struct bh_trace_vcpu {
	uint64_t name;           /* address of its text */
	uint64_t budget, period; /* the latest */
	uint64_t made;           /* when */
	uint64_t had;            /* address of struct bh_trace_had; 0: nobody knows */
	uint64_t run;            /* address of struct bh_trace_run; 0: its program tells nothing */
	uint32_t slot;           /* of its core */
	uint32_t pad;
};

struct bh_trace_had {
	uint64_t foreground, background; /* with budget, and without */
};

struct bh_trace_run {
	uint64_t rounds;
	uint64_t missed; /* periods in which none began */
	uint64_t late;   /* ticks of clock_hz from when a period began until a round did, at most */
	uint64_t done;   /* and until it was done, at most; 0: it does not say */
};

struct bh_trace {
	uint32_t magic; /* 0: there is nothing to tell yet */
	uint32_t version;
	uint32_t vcpu_count; /* rows ever asked for, those included that there was no room for. Row 0 is nobody's */
	uint32_t pad;
	uint64_t clock_hz;
	struct bh_trace_core core[BH_MAX_SANDBOX_CORES];
	struct bh_trace_vcpu vcpu[BH_TRACE_VCPUS];
};
