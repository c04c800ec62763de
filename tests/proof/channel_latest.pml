/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. bh_latest_write and bh_latest_read (abi/channel_inline.h), in all orders of their accesses to shared words: a value that
 * was read is whole, at least that of the last write that had ended when the read began, at most the one under way when it ended.
 * -DWRONG: the reader does not say which pair it reads; then the model must find a torn value.
 */
#define WRITES 5
#define READS  4

byte first_half[4], second_half[4]; /* data of slot `pair * 2 + index` */
byte slot[2], latest, reading, sent;

active proctype writer()
{
	byte pair, index, number, own[2];

	do
	:: number < WRITES ->
		pair = 1 - reading;
		index = 1 - own[pair];
		first_half[pair * 2 + index] = number;
		second_half[pair * 2 + index] = number;
		own[pair] = index;
		slot[pair] = index;
		latest = pair;
		number++;
		sent = number
	:: else -> break
	od
}

active proctype reader()
{
	byte pair, index, before, one, two, reads, newest;

	do
	:: reads < READS ->
		before = sent;
		if
		:: before == 0 -> skip
		:: else ->
			pair = latest;
#ifndef WRONG
			reading = pair;
#endif
			index = slot[pair];
			one = first_half[pair * 2 + index];
			two = second_half[pair * 2 + index];
			assert(one == two);
			assert(one + 1 >= before);
			assert(one <= sent);
			assert(one >= newest);
			newest = one;
			reads++
		fi
	:: else -> break
	:: sent == 0 -> skip
	od
}
