/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. A ring of two slots (abi/channel_inline.h) whose ends die at any access to a shared word and live anew, in all orders:
 * what is read is of the connection that the reader takes part in, whole, and the next in it; no end finds the other broken.
 * What is sent and taken is counted without a look at the page, also when the other end lives anew meanwhile (bh_ring_count).
 *
 * Each of these takes a premise away, and must find a mistake:
 *   -DWRONG   the reader does not look at the page once more after it has read a counter
 *   -DUNSAID  monitors leave what a life has said, and a life speaks for the next one
 *   -DLATE    the last counter that a life stores is seen after its next life has begun
 *   -DEARLY   an end says that it takes part before it has cleared its counter
 */
#define SLOTS    2
#define MESSAGES 3 /* of a connection */
#define DEATHS   2 /* of each end */

byte epoch[2] = 1;          /* the page */
byte said[2], said_peer[2]; /* the controls: epoch, peer */
byte sent, taken;
byte slot_from[SLOTS], slot_to[SLOTS], slot_number[SLOTS];
bool dies[2];

#define SAME(other) (epoch[other] == mine[other]) /* an end's own life is the same as long as it runs */

/* bh_end_begin of end `side`, whose counter is `counter` */
inline begin(side, counter)
{
	connected = false;
	count = 0;
	known = 0;
	said_peer[side] = 0;
#ifdef EARLY
	said[side] = mine[side];
	said_peer[side] = mine[1 - side];
	counter = 0
#else
	counter = 0;
	said[side] = mine[side];
	said_peer[side] = mine[1 - side]
#endif
}

inline look(side, counter)
{
	if
	:: epoch[0] != mine[0] || epoch[1] != mine[1] ->
		mine[0] = epoch[0];
		mine[1] = epoch[1];
		begin(side, counter)
	:: else ->
		if
		:: !connected && said[1 - side] == mine[1 - side] -> connected = said_peer[1 - side] == mine[side]
		:: else
		fi
	fi
}

/* What the monitor does between two lives. */
inline live_anew(side)
{
#ifndef UNSAID
	said_peer[side] = 0;
#endif
	atomic {
		epoch[side] = epoch[side] + 1;
		connected = false;
		late = count;
		count = 0;
		known = 0;
		mine[0] = 0;
		mine[1] = 0;
		dies[side] = false
	}
}

active proctype sender()
{
	byte mine[2], count, known, read, late;
	bool connected;

life:
	{
		do
		:: true ->
			look(0, sent);
			if
			:: connected && count - known == SLOTS ->
				read = taken;
				if
				:: SAME(1) ->
					assert(read >= known && read <= count);
					known = read
				:: else
				fi
			:: connected && count - known < SLOTS && count < MESSAGES ->
				slot_number[count % SLOTS] = count;
				slot_from[count % SLOTS] = mine[0];
				slot_to[count % SLOTS] = mine[1];
				count++;
				sent = count
			:: else
			fi
#ifdef UNSAID
		:: true ->
			said[0] = mine[0] + 1;
			sent = 3
#endif
#ifdef LATE
		:: late != 0 && mine[0] == epoch[0] ->
			sent = late;
			late = 0
#endif
		od
	} unless { dies[0] };
	live_anew(0);
	goto life
}

active proctype reader()
{
	byte mine[2], count, known, late;
	bool connected;

life:
	{
		do
		:: true ->
			look(1, taken);
			if
			:: connected && known == count ->
				known = sent;
#ifndef WRONG
				if
				:: SAME(0) -> assert(known >= count && known - count <= SLOTS)
				:: else -> known = count
				fi
#else
				assert(known >= count && known - count <= SLOTS)
#endif
			:: connected && known != count ->
				assert(slot_number[count % SLOTS] == count);
				assert(slot_from[count % SLOTS] == mine[0]);
				assert(slot_to[count % SLOTS] == mine[1]);
				count++;
				taken = count
			:: else
			fi
		od
	} unless { dies[1] };
	live_anew(1);
	goto life
}

active proctype death()
{
	byte deaths[2];

	do
	:: deaths[0] < DEATHS && !dies[0] -> deaths[0]++; dies[0] = true
	:: deaths[1] < DEATHS && !dies[1] -> deaths[1]++; dies[1] = true
	od
}
