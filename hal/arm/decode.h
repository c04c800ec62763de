/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Syndromes, ESR_EL2 and HSR: the layout is one. ARM ARM D24.2.37 "ESR_EL1" describes the fields of every ESR_ELx; ARMv7 ARM
 * B3.13.6 "Use of the HSR". syndrome.h, of the architecture, reads the registers.
 */
#pragma once
#include "hal/arm/stage2.h"

enum { UNTRANSLATED = 1 }; /* in place of a page's address */
#include "syndrome.h"

#define SYNDROME_CLASS(syndrome) ((syndrome) >> 26 & 0x3f)
#define SYNDROME_CALL_IMMEDIATE  0xffff

/* Decodes one class: fills in exit, whose raw[0] is the syndrome, and returns its kind. */
typedef enum bh_exit_reason (*syndrome_decoder)(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit);

/* Supplied by decode.c of the architecture; an entry without a decoder ends it. */
struct syndrome_class {
	uint8_t class;
	syndrome_decoder decode;
};
extern const struct syndrome_class syndrome_classes[];

/*
 * Fills in the access if the guest loaded or stored a word where nothing is mapped, below a root entry that is valid, so that no kick has
 * caused it. Returns false for anything else.
 */
bool decode_word_access(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit);

/* Decoders that both architectures share, abort.c. */
enum bh_exit_reason decode_data_abort(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit);
enum bh_exit_reason decode_fetch_abort(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit);
