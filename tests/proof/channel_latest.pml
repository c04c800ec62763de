/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. bh_latest_write and bh_latest_read (abi/channel_inline.h) with READERS readers, in all orders of their accesses to shared
 * words; the writer dies at any of them, and its program begins again, or its sandbox. A value that was read is whole, of the life that the
 * reader takes part in, at least that of the last write that had ended when the read began, at most the one under way when it ended, and no
 * older than the one that the reader had before. No number has two values.
 * With one of these the model must find a mistake: -DWRONG: readers do not say which pair they read. -DBACK: they always go to the latest
 * pair. -DTWICE: a program does not finish what the one before it has published. -DOTHERS: a reader that finds a new life clears the words of
 * others, too. -DUNSEEN: readers do not look at the page once more. -DFEW: as many pairs as readers.
 */
#ifndef READERS
#define READERS 2
#endif
#ifdef FEW
#define PAIRS READERS
#else
#define PAIRS (READERS + 1)
#endif
#ifndef WRITES
#define WRITES 4 /* in all */
#endif
#ifndef READS
#define READS 2 /* of each reader */
#endif
#ifndef DEATHS
#define DEATHS 1
#endif

byte epoch = 1, said = 1;                     /* the writer's life: by the page, by its control */
byte slot[PAIRS], latest, sent;               /* its control; slot: 2 * (number + 1) + index */
byte reading[READERS];                        /* the readers' control */
byte number[2 * PAIRS], from[2 * PAIRS];      /* slots: pair * 2 + index */
byte first_half[2 * PAIRS], second_half[2 * PAIRS];
byte serials;                                 /* values so far: no two are alike */
byte known[(DEATHS + 2) * (WRITES + 1)];      /* by life and number: the value that somebody has read */
bool dies;

inline free_pair()
{
	busy = 0;
	pair = 0;
	do
	:: pair < READERS -> busy = busy | (1 << reading[pair]); pair++
	:: else -> break
	od;
	atomic {
		pair = 0;
		do
		:: pair < PAIRS - 1 && (busy >> pair) % 2 -> pair++
		:: else -> break
		od;
		busy = 0
	}
}

/* A pair whose word is of the number that was not counted. */
inline finish()
{
	pair = 0;
#ifndef TWICE
	do
	:: pair < PAIRS && slot[pair] / 2 == count + 1 ->
		latest = pair;
		count++;
		sent = count;
		break
	:: pair < PAIRS && slot[pair] / 2 != count + 1 -> pair++
	:: else -> break
	od
#endif
}

inline clear()
{
	sent = 0;
	pair = 0;
	do
	:: pair < PAIRS -> slot[pair] = 0; pair++
	:: else -> break
	od;
	said = epoch
}

active proctype writer()
{
	byte pair, index, count, at, busy;

life:
	{
		do
		:: serials < WRITES ->
			free_pair();
			index = 1 - slot[pair] % 2;
			at = pair * 2 + index;
			serials++;
			d_step { first_half[at] = serials; from[at] = said };
			d_step { second_half[at] = serials; number[at] = count };
			slot[pair] = 2 * (count + 1) + index;
			latest = pair;
			count++;
			d_step { sent = count; at = 0; pair = 0; index = 0 }
		:: else -> break
		od
	} unless { dies };
	if
	:: dies ->
		d_step { dies = false; busy = 0; at = 0; index = 0 };
		if
		:: true ->
			epoch++;
			clear();
			count = 0
		:: true ->
			count = sent;
			finish()
		fi;
		goto life
	:: else
	fi
}

active proctype death()
{
	byte deaths;

	do
	:: deaths < DEATHS -> deaths++; dies = true
	:: true -> break
	od
}

active [READERS] proctype reader()
{
	byte me = _pid - 2, mine, pair, at, before, one, two, owner, which, last, newest, reads;
	bool connected, started;

	do
	:: reads < READS && epoch != mine ->
		mine = epoch;
		connected = false;
		started = false;
		newest = 0;
#ifdef OTHERS
		reading[READERS - 1 - me] = 0
#endif
	:: reads < READS && epoch == mine && !connected -> connected = said == mine
	:: reads < READS && epoch == mine && connected ->
		before = sent;
		if
		:: before == 0 && !started -> skip
		:: else ->
			if
#ifdef BACK
			:: true ->
#else
			:: !started || before + 1 != newest ->
#endif
				pair = latest;
#ifndef WRONG
				reading[me] = pair
#endif
#ifndef BACK
			:: else
#endif
			fi;
			at = pair * 2 + slot[pair] % 2;
			d_step { one = first_half[at]; owner = from[at] };
			d_step { two = second_half[at]; which = number[at] };
			last = sent;
			if
#ifndef UNSEEN
			:: epoch != mine -> skip
#endif
			:: else ->
				assert(one == two);
				assert(owner == mine);
				assert(which + 1 >= before && which <= last);
				assert(which + 1 >= newest);
				d_step {
					assert(known[mine * WRITES + which] == 0 || known[mine * WRITES + which] == one);
					known[mine * WRITES + which] = one;
					newest = which + 1
				}
				started = true;
				reads++
			fi;
			d_step { one = 0; two = 0; owner = 0; which = 0; last = 0; at = 0 }
		fi;
		before = 0
	:: reads == READS -> break
	od
}
