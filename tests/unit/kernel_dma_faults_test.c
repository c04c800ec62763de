/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.dma. kernel/core/dma_faults.c, and the drivers that read records, over a queue that an IOMMU fills. The words are written down from
 * Arm IHI 0070, 7.3, and AMD 48882, 2.5; the tool's tests have the same.
 */
#include <stdarg.h>
#include <string.h>

#include "check.h"
#include "kernel/core/console.h"
#include "kernel/core/dma_faults.h"
#include "kernel/core/info.h"
#include "kernel/core/text.h"
#include "kernel/drivers/amdvi_records.h"
#include "kernel/drivers/smmuv3_records.h"

enum { NIC = 0x08, ARM = BH_FAULTS_SMMUV3, AMD = BH_FAULTS_AMDVI };

const struct dma_fault_form *const dma_fault_forms[] = { &smmuv3_records, &amdvi_records, NULL };

static const struct {
	enum bh_fault_form form;
	uint64_t record[4];
	struct dma_fault fault; /* code 0: there is none */
} golden[] = {
	{ ARM, { 0x0000000800000010, 0x0000008000000000, 0x77777000, 0x77777000 }, { 0x77777000, NIC, 0x10, DMA_FAULT_WRITE } },
	{ ARM, { 0x0000000800000010, 0x0000008800000000, 0x40, 0 }, { 0x40, NIC, 0x10, DMA_FAULT_READ } },
	{ ARM, { 0x0000001000000013, 0x0000008000000000, 0x40001000, 0 }, { 0x40001000, 0x10, 0x13, DMA_FAULT_WRITE } },
	{ ARM, { 0x0000000800000020, 0x0000008800000000, 0x2000, 0 }, { 0x2000, NIC, 0x20, DMA_FAULT_READ } },
	{ ARM, { 0x0000000800000004, 0x0000000800000000, 0x1234, 0 }, { 0, NIC, 4, DMA_FAULT_ACCESS } },
	{ ARM, { 0x00000108000000ff, 0, 0x1234, 0 }, { 0, 0x108, 0xff, DMA_FAULT_ACCESS } },
	{ ARM, { 0 }, { 0 } },
	{ AMD, { 0x2020000200000008, 0x77777000 }, { 0x77777000, NIC, 2, DMA_FAULT_WRITE } },
	{ AMD, { 0x2000000200000008, 0x40 }, { 0x40, NIC, 2, DMA_FAULT_READ } },
	{ AMD, { 0x1020000000000010, 0x1000 }, { 0x1000, 0x10, 1, DMA_FAULT_WRITE } },
	{ AMD, { 0x5000000000000000, 0x1000 }, { 0 } },
	{ AMD, { 0x6000000000000000, 0x1000 }, { 0 } },
	{ AMD, { 0 }, { 0 } },
};

static void test_records(void)
{
	for (unsigned n = 0; n < sizeof(golden) / sizeof(golden[0]); n++) {
		struct dma_fault fault = { 1, 2, 0, DMA_FAULT_READ };

		check_context.subject = "golden records";
		check_context.round = n;
		CHECK_EQ((golden[n].form == ARM ? smmuv3_records : amdvi_records).decode(golden[n].record, &fault), !!golden[n].fault.code);
		CHECK_EQ(fault.code, golden[n].fault.code);
		if (!fault.code)
			continue;
		CHECK_EQ(fault.address, golden[n].fault.address);
		CHECK_EQ(fault.function, golden[n].fault.function);
		CHECK_EQ(fault.access, golden[n].fault.access);
	}
	check_context.round = 0;
	CHECK_EQ(smmuv3_records.number, ARM);
	CHECK_EQ(smmuv3_records.words, 32 / 8);
	CHECK_EQ(amdvi_records.number, AMD);
	CHECK_EQ(amdvi_records.words, 16 / 8);
}

/* ---- the command ---- */

static _Alignas(4096) uint64_t queue[BH_FAULTS_BYTES / 8];
static char said[4096];
static size_t length;
static struct bh_info description;
const struct bh_info *info = &description;

static void put(char c)
{
	CHECK(length < sizeof(said) - 1);
	said[length++] = c;
	said[length] = '\0';
}

void console_say(const char *form, ...)
{
	va_list arguments;

	va_start(arguments, form);
	text_format(put, form, arguments);
	va_end(arguments);
	put('\n');
}

const struct bh_grant *info_find(enum bh_grant_kind kind, const char *name)
{
	CHECK(kind == BH_GRANT_DMA_FAULTS && !name);
	return description.grant_count ? &description.grants[0] : NULL;
}

static void run(void)
{
	length = 0;
	said[0] = '\0';
	run_dma_faults(NULL);
}

static void put_record(unsigned at, uint64_t stream, uint64_t address)
{
	uint64_t *record = &queue[(size_t)at * 4];

	record[0] = stream << 32 | 0x10;
	record[1] = UINT64_C(1) << 39;
	record[2] = record[3] = address;
}

static void test_command(void)
{
	check_context.subject = "the command";
	run();
	CHECK(!strcmp(said, "dma-faults: they were not granted\n"));
	description.grant_count = 2;
	description.grants[0] = (struct bh_grant){ .kind = BH_GRANT_DMA_FAULTS,
						   .vector = ARM,
						   .flags = 0x38 << 16,
						   .gpa = (uintptr_t)queue,
						   .size = sizeof(queue),
						   .name = "linux",
						   .compatible = "nic1" };
	description.grants[1] = description.grants[0];
	description.grants[1].flags = NIC << 16;
	strcpy((char *)description.grants[1].name, "attacker");
	strcpy((char *)description.grants[1].compatible, "nic0");
	run();
	CHECK(!strcmp(said, "dma faults: 0\n"));
	put_record(0, NIC, 0x77777000);
	put_record(1, 0x38, 0x1000);
	put_record(2, 0x40, 0x2000);
	run();
	CHECK(strstr(said, "dma fault: nic0 (function 0x8) of attacker: write to 0x77777000 blocked, code 0x10\n"));
	CHECK(strstr(said, "dma fault: nic1 (function 0x38) of linux: write to 0x1000 blocked, code 0x10\n"));
	CHECK(strstr(said, "dma fault: one (function 0x40) of nobody: write to 0x2000 blocked, code 0x10\n"));
	CHECK(strstr(said, "\ndma faults: 3\n"));
	run();
	CHECK(!strcmp(said, "dma faults: 0\n"));
	for (unsigned n = 0; n < sizeof(queue) / 32; n++)
		put_record(n, NIC, UINT64_C(0x1000) * (n + 100));
	run();
	CHECK(strstr(said, "dma faults: 128\n"));
	for (unsigned lines = 0, n = 0; n < length; n++) {
		lines += said[n] == '\n';
		CHECK(lines <= 9);
	}
}

int main(void)
{
	test_records();
	test_command();
	return 0;
}
