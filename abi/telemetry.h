/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sandbox kernel says of itself in a latest value (BH_CHANNEL_TELEMETRY), about ten times in a second: one message, always of
 * BH_TELEMETRY_BYTES. Written by the sandbox alone: whoever reads believes nothing of it, no count, no index and no name.
 *
 *   header, exits | vcpu[0] ... vcpu[BH_TELEMETRY_VCPUS - 1] | channel[0] ... channel[BH_TELEMETRY_CHANNELS - 1]
 *
 * Structures as in guest.h: fixed sizes, little-endian, naturally aligned. Rows beyond a count are 0. Names are NUL-padded. All times are
 * ns, all counts are of this life of the sandbox, but those of a channel of its connection. Whatever changes raises BH_TELEMETRY_VERSION.
 */
#pragma once
#include "guest.h"

enum { BH_TELEMETRY_MAGIC = 0x4d544842 /* "BHTM" */, BH_TELEMETRY_VERSION = 1, BH_TELEMETRY_VCPUS = 20, BH_TELEMETRY_CHANNELS = 16 };

struct bh_telemetry_vcpu {
	uint8_t name[BH_NAME_BYTES];
	uint8_t program[16]; /* empty: it is the main program, or is none of the kernel's */
	uint64_t budget;     /* in each period */
	uint64_t period;     /* of an I/O VCPU the shortest of those that it serves */
	uint64_t had;        /* with budget */
	uint64_t background; /* without, while nobody had any */
	uint64_t rounds;     /* of its program's loop */
	uint64_t missed;     /* periods in which none began */
	uint32_t core;       /* as the machine counts them */
	uint32_t reserved;
};

/* Of a channel. CLOSED: its memory is not there. ALONE: there is no connection, or it is broken. */
enum bh_telemetry_state { BH_TELEMETRY_CLOSED, BH_TELEMETRY_ALONE, BH_TELEMETRY_CONNECTED };
struct bh_telemetry_channel {
	uint8_t name[BH_NAME_BYTES];
	uint8_t peer[BH_NAME_BYTES]; /* the other end's sandbox */
	uint32_t end;                /* which the sandbox is, 0 or 1 */
	uint32_t state;              /* enum bh_telemetry_state */
	uint32_t sent, taken;        /* in this connection, modulo 2^32 */
	uint32_t connections;        /* that have begun */
	uint32_t refused;            /* messages and counters */
};

struct bh_telemetry {
	uint32_t magic;
	uint32_t version;
	uint32_t life;                 /* lives before this one */
	uint32_t is_ready;             /* BH_CALL_READY was called */
	uint64_t number;               /* of such values, from 1 on */
	uint64_t time;                 /* by the machine's common clock, when this was written */
	uint64_t up;                   /* since the first instruction of this life */
	uint64_t beats;                /* of the heartbeat */
	uint64_t beat_gaps;            /* beats that came more than a period late */
	uint64_t beat_period;          /* 0: it does not beat */
	uint64_t exits[BH_EXIT_SLOTS]; /* by enum bh_exit_reason, of all cores, since BH_CALL_READY */
	uint32_t exit_kinds;           /* that there are: BH_EXIT_REASONS */
	uint32_t core_count;
	uint32_t vcpu_count, vcpus_left_out;
	uint32_t channel_count, channels_left_out;
	uint64_t beat_late; /* of the latest beat so far */
	struct bh_telemetry_vcpu vcpu[BH_TELEMETRY_VCPUS];
	struct bh_telemetry_channel channel[BH_TELEMETRY_CHANNELS];
};
_Static_assert(sizeof(struct bh_telemetry_vcpu) == 104, "no gaps");
_Static_assert(sizeof(struct bh_telemetry_channel) == 88, "no gaps");
_Static_assert(sizeof(struct bh_telemetry) == BH_TELEMETRY_BYTES, "one slot");
