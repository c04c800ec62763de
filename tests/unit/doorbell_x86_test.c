/* SPDX-License-Identifier: Apache-2.0 */
/* Doorbells on PCs (BH-I4.doorbell): hal/x86/kick.c sends the vector that is told of to the core that is, and nothing else. */
#include "hal/x86/core.h"

#include <string.h>

#include "doorbell_scene.h"
#include "hal/x86/apic/apic.h"

enum { VECTOR = 0x61, ID = 0x112233 };

static struct bh_channel_end ends[BH_MAX_CHANNELS + 1];
static struct {
	unsigned count;
	uint32_t apic_id, vector;
} sent;

static unsigned doorbell_rings(void)
{
	return sent.count;
}

/* Whatever a guest has made of its line: no NMI, no INIT, no SMI. */
void apic_send(uint32_t apic_id, enum apic_mode mode, uint8_t vector)
{
	CHECK_EQ(mode, APIC_FIXED);
	sent.count++;
	sent.apic_id = apic_id;
	sent.vector = vector;
}

static void prepare(void)
{
	memset(&sent, 0, sizeof(sent));
	for (unsigned n = 0; n <= BH_MAX_CHANNELS; n++) {
		ends[n] = (struct bh_channel_end){ .vector = VECTOR + n, .core = ID + n };
		doorbells[n] = (struct hal_doorbell){ .gap = GAP, .told = &ends[n] };
	}
	for (unsigned n = 0; n < 2; n++)
		doorbell_cores[n] = (struct hal_core){ .doorbells = doorbells };
}

static void test_told(void)
{
	check_context.subject = "as it is told";
	for (unsigned n = 0; n < BH_MAX_CHANNELS; n++) {
		check_context.round = n;
		check_ring(n, GAP, BH_OK);
		CHECK_EQ(sent.apic_id, ID + n);
		CHECK_EQ(sent.vector, VECTOR + n);
	}
	check_context.round = 0;
	ends[3].core = ID - 1; /* its guest has chosen anew */
	ends[3].vector = 0xef;
	check_ring(3, 2 * GAP, BH_OK);
	CHECK_EQ(sent.apic_id, ID - 1);
	CHECK_EQ(sent.vector, 0xef);
}

/* It is not heard, which is nothing to the sender; and it does not ring sooner for that. */
static void test_masked(void)
{
	check_context.subject = "masked";
	ends[0].vector = 0;
	doorbell_now = GAP;
	CHECK_EQ(ring(0), BH_OK);
	CHECK_EQ(sent.count, 0);
	ends[0].vector = VECTOR;
	check_ring(0, GAP + 1, BH_E_LATER);
	check_ring(0, 2 * GAP, BH_OK);
}

int main(void)
{
	test_all_doorbells(prepare);
	prepare();
	test_told();
	prepare();
	test_masked();
	return 0;
}
