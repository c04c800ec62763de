/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: which modules a Multiboot2 loader brought. Pure, so that the same file runs on the host under tests. */
#include "arch/x86_64/multiboot2.h"

/* 3.6.1 "Boot information": a header, then tags, each aligned to 8 bytes, up to one of type 0. */
enum { TAG_END = 0, TAG_MODULE = 3, TAG_ALIGNMENT = 8, INFO_MAX = 0x10000 };
struct info {
	uint32_t total_size, reserved;
};
struct tag {
	uint32_t type, size;
};
/* 3.6.6 "Modules"; a string follows. */
struct module_tag {
	struct tag tag;
	uint32_t mod_start, mod_end;
};

static void count_module(struct arch_modules *modules, const struct module_tag *module)
{
	modules->count++;
	modules->start = module->mod_start;
	modules->bytes = module->mod_end - module->mod_start;
}

struct arch_modules multiboot2_modules(const void *info)
{
	struct arch_modules modules = { 0 };
	uint32_t total = ((const struct info *)info)->total_size;
	uint32_t at = sizeof(struct info);

	if (total > INFO_MAX)
		return modules;
	while (at + sizeof(struct tag) <= total) {
		const struct tag *tag = (const struct tag *)((const char *)info + at);

		if (tag->type == TAG_END || tag->size < sizeof(*tag) || tag->size > total - at)
			break;
		if (tag->type == TAG_MODULE && tag->size >= sizeof(struct module_tag))
			count_module(&modules, (const struct module_tag *)tag);
		at += (tag->size + TAG_ALIGNMENT - 1) & ~(uint32_t)(TAG_ALIGNMENT - 1);
	}
	return modules;
}
