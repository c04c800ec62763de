/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between two sandboxes whose VCPUs have little time: how long they take, from the moment that one begins to send to the moment
 * that the other has used the last word, and until the answer is there. Both run the same commands; the first ones set what the last does.
 */
#pragma once
#include "kernel/core/command.h"

/* exchange-vcpu=BUDGET,PERIOD,POLL: in ns, of this end; between two looks of who waits, 0: who waits never sleeps */
void run_exchange_vcpu(const struct command_line *line);
/* exchange-pause=LEAST,SPREAD: in ns, of this end before each message: it sleeps so long, and up to SPREAD longer */
void run_exchange_pause(const struct command_line *line);
/* exchange-shell=BUDGET,PERIOD: a thread besides that never waits, in ns */
void run_exchange_shell(const struct command_line *line);
/* exchange-answer=BYTES,SEED: how long an answer is, at most a slot; of pauses */
void run_exchange_answer(const struct command_line *line);
/* exchange=FROM,TO,TRIALS: messages of so many bytes, of four times as many, and so on */
void run_exchange(const struct command_line *line);
