/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware a sandbox finds: PSCI (DEN 0022) 5 "PSCI functions" and the version of the SMC calling convention (DEN 0028),
 * by HVC or SMC alike. A sandbox runs on one core in this version: it has none to start, and its core going off is its end.
 */
#include "hal/stage2/stage2.h"

enum {
	SMCCC_VERSION = 0x80000000,
	PSCI_VERSION = 0x84000000,
	PSCI_CPU_OFF = 0x84000002,
	PSCI_AFFINITY_INFO_32 = 0x84000004,
	PSCI_AFFINITY_INFO = 0xc4000004,
	PSCI_MIGRATE_INFO_TYPE = 0x84000006,
	PSCI_SYSTEM_OFF = 0x84000008,
	PSCI_SYSTEM_RESET = 0x84000009,
	PSCI_FEATURES = 0x8400000a,
};
enum { SMCCC_1_1 = 0x10001, PSCI_1_1 = 0x10001, NOT_SUPPORTED = -1, INVALID_PARAMETERS = -2, ON = 0, NO_TRUSTED_OS = 2 };

/* MPIDR's affinity fields. */
#define AFFINITY UINT64_C(0xff00ffffff)

static int64_t affinity_info(const struct hal_core *core)
{
	bool self = (guest_read(core, 1) & AFFINITY) == core->partition->hardware_id[core->slot];

	return self ? ON : INVALID_PARAMETERS;
}

static int64_t features(const struct hal_core *core);

/* Functions that return: a constant, or what `answer` says. */
static const struct {
	uint32_t function;
	int32_t value;
	int64_t (*answer)(const struct hal_core *core);
} functions[] = {
	{ SMCCC_VERSION, SMCCC_1_1, NULL },
	{ PSCI_VERSION, PSCI_1_1, NULL },
	{ PSCI_MIGRATE_INFO_TYPE, NO_TRUSTED_OS, NULL },
	{ PSCI_AFFINITY_INFO_32, 0, affinity_info },
	{ PSCI_AFFINITY_INFO, 0, affinity_info },
	{ PSCI_FEATURES, 0, features },
};

static bool ends_sandbox(uint64_t function)
{
	return function == PSCI_CPU_OFF || function == PSCI_SYSTEM_OFF || function == PSCI_SYSTEM_RESET;
}

static int64_t features(const struct hal_core *core)
{
	uint32_t asked = (uint32_t)guest_read(core, 1);

	for (unsigned n = 0; n < sizeof(functions) / sizeof(functions[0]); n++)
		if (functions[n].function == asked)
			return 0;
	return ends_sandbox(asked) ? 0 : NOT_SUPPORTED;
}

static int64_t answer(const struct hal_core *core, uint64_t function)
{
	for (unsigned n = 0; n < sizeof(functions) / sizeof(functions[0]); n++)
		if (functions[n].function == function)
			return functions[n].answer ? functions[n].answer(core) : functions[n].value;
	return NOT_SUPPORTED;
}

enum hal_action psci_emulate(struct hal_core *core, const struct hal_exit *exit)
{
	if (ends_sandbox(exit->gpa))
		return HAL_STOP;
	hal_core_set_result(core, (uint64_t)answer(core, exit->gpa));
	return HAL_SKIP;
}
