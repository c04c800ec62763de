/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two memory functions a freestanding compiler may call on its own. Resident, so: small before fast; large copies
 * are made by start-up code with whole words.
 */
#include <stddef.h>

void *memcpy(void *restrict target, const void *restrict source, size_t size);
void *memset(void *target, int value, size_t size);

__attribute__((no_builtin("memcpy"))) void *memcpy(void *restrict target, const void *restrict source, size_t size)
{
	unsigned char *t = target;
	const unsigned char *s = source;

	while (size--)
		*t++ = *s++;
	return target;
}

__attribute__((no_builtin("memset"))) void *memset(void *target, int value, size_t size)
{
	unsigned char *t = target;

	while (size--)
		*t++ = (unsigned char)value;
	return target;
}
