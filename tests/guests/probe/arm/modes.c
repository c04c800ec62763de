/* SPDX-License-Identifier: Apache-2.0 */
/* The campaign's modes (campaign.h), of which ARM needs none. */
#include <stddef.h>

#include "probe/campaign.h"

/* Code enters modes and states itself here, in a few instructions; no request asks for one. A call of what this returns is refused. */
campaign_function *campaign_in_mode(const struct campaign_request *request)
{
	return NULL;
}
