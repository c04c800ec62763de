/* SPDX-License-Identifier: Apache-2.0 */
/* For test_linux_described.py: what tools/linux/lib finds of channels in Linux' files below a folder. describe FOLDER NAME... */
#include <inttypes.h>
#include <stdio.h>

#include "description.h"

int main(int words, char **word)
{
	for (int n = 2; n < words; n++) {
		struct bulkhead_description one;
		const int error = bulkhead_describe(&one, word[n], word[1]);

		if (error)
			printf("%d\n", error);
		else
			printf("%s %s %" PRIu32 " %#" PRIx64 " %#" PRIx32 " %#" PRIx64 " %" PRIu32 "\n", one.name, one.peer, one.end,
			       one.address, one.page_offset, one.bytes, one.features);
	}
	return 0;
}
