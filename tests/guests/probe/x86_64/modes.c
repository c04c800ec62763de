/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a request's code to where it runs in real or in 32-bit protected mode (campaign.h, modes.S). */
#include "modes.h"

#include <stddef.h>

#include "probe/campaign.h"

extern const uint8_t modes_stub[], modes_stub_end[];
uint64_t modes_protected(uint64_t target, uint64_t value);
uint64_t modes_real(uint64_t target, uint64_t value);

campaign_function *campaign_in_mode(const struct campaign_request *request)
{
	uint8_t *page = (uint8_t *)MODES_PAGE;

	for (const uint8_t *byte = modes_stub; byte < modes_stub_end; byte++)
		page[byte - modes_stub] = *byte;
	for (size_t n = 0; n < CAMPAIGN_CODE_BYTES; n++)
		page[MODES_CODE + n] = request->code[n];
	return request->flags & CAMPAIGN_REAL ? modes_real : modes_protected;
}
