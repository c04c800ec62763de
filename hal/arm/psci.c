/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware a sandbox finds: PSCI (DEN 0022) 5 "PSCI functions" and the version of the SMC calling convention (DEN 0028),
 * by HVC or SMC alike. Nothing here reaches the machine: a core that is off waits in its monitor until a sibling starts it.
 *
 *   OFF ──claim──► PENDING ──entry written, signal sent──► STARTED ──its own monitor──► ON ──CPU_OFF──► OFF
 */
#include "arch/arch.h"
#include "hal/arm/stage2.h"
#include "hal/pci/config.h"

/* Function identifiers are PSCI_BASE + number; those with arguments of 64 bits, which only 64-bit guests have, a bit more. */
enum {
	PSCI_VERSION = 0,
	CPU_OFF = 2,
	CPU_ON = 3,
	AFFINITY_INFO = 4,
	MIGRATE_INFO_TYPE = 6,
	SYSTEM_OFF = 8,
	SYSTEM_RESET = 9,
	PSCI_FEATURES = 10,
	SYSTEM_RESET2 = 18,
	NUMBERS = 32,
	WITH_ADDRESSES = 1 << CPU_ON | 1 << AFFINITY_INFO | 1 << SYSTEM_RESET2,
	OFFERED_64_BITS = sizeof(uintptr_t) == 8 ? WITH_ADDRESSES : 0,
	OFFERED_32_BITS = WITH_ADDRESSES | 1 << PSCI_VERSION | 1 << CPU_OFF | 1 << MIGRATE_INFO_TYPE | 1 << SYSTEM_OFF | 1 << SYSTEM_RESET |
			  1 << PSCI_FEATURES,
	SMCCC_VERSION = NUMBERS, /* not PSCI's, but found by PSCI_FEATURES */
	NOT_OFFERED,
};
#define PSCI_BASE          UINT32_C(0x84000000)
#define SMCCC_VERSION_CALL UINT32_C(0x80000000)
#define WITH_64_BITS       (UINT32_C(1) << 30)
#define AFFINITY           UINT64_C(0xff00ffffff) /* MPIDR's affinity fields */

enum { SMCCC_1_1 = 0x10001, PSCI_1_1 = 0x10001, NO_TRUSTED_OS = 2 };
enum { SUCCESS = 0, NOT_SUPPORTED = -1, INVALID_PARAMETERS = -2, ALREADY_ON = -4, ON_PENDING = -5 };

static unsigned number_of(uint32_t function)
{
	uint32_t number = (function & ~WITH_64_BITS) - PSCI_BASE;
	uint32_t offered = function & WITH_64_BITS ? OFFERED_64_BITS : OFFERED_32_BITS;

	if (function == SMCCC_VERSION_CALL)
		return SMCCC_VERSION;
	return number < NUMBERS && offered >> number & 1 ? number : NOT_OFFERED;
}

static uint32_t power_of(const struct hal_core *core)
{
	return __atomic_load_n(&core->power, __ATOMIC_ACQUIRE);
}

static void set_power(struct hal_core *core, enum core_power power)
{
	__atomic_store_n(&core->power, power, __ATOMIC_RELEASE);
}

/* Argument n as wide as the function takes it. */
static uint64_t argument(const struct hal_core *core, unsigned n)
{
	uint64_t value = guest_read(core, n);

	return guest_read(core, 0) & WITH_64_BITS ? value : (uint32_t)value;
}

/* The core of the sandbox that argument 1 names, or NULL. */
static struct hal_core *named_core(const struct hal_core *core)
{
	const struct hal_partition *partition = core->partition;
	uint64_t affinity = argument(core, 1) & AFFINITY;

	for (uint32_t slot = 0; slot < partition->core_count; slot++)
		if (partition->hardware_id[slot] == affinity)
			return partition->siblings[slot];
	return NULL;
}

/* Who claims the core writes its entry. The core leaves PENDING only when the signal is sent, so that its guest never meets it. */
static int64_t cpu_on(const struct hal_core *core)
{
	struct hal_core *target = named_core(core);
	uint32_t found = POWER_OFF;

	if (!target)
		return INVALID_PARAMETERS;
	if (!__atomic_compare_exchange_n(&target->power, &found, POWER_PENDING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return found == POWER_ON ? ALREADY_ON : ON_PENDING;
	__atomic_add_fetch(&core->partition->cores_on, 1, __ATOMIC_ACQ_REL);
	target->entry = (struct core_entry){ .pc = argument(core, 2), .arg = argument(core, 3) };
	arch_barrier(); /* who wakes finds PENDING and does not sleep again */
	gic_signal(core->partition->hardware_id[target->slot]);
	set_power(target, POWER_STARTED);
	return SUCCESS;
}

/* A core that has been started and has not come yet is pending. */
static int64_t affinity_info(const struct hal_core *core)
{
	const struct hal_core *target = named_core(core);
	uint32_t power;

	if (!target)
		return INVALID_PARAMETERS;
	power = power_of(target);
	return power == POWER_STARTED ? POWER_PENDING : power;
}

static int64_t answer(const struct hal_core *core, unsigned number)
{
	switch (number) {
	case SMCCC_VERSION:
		return SMCCC_1_1;
	case PSCI_VERSION:
		return PSCI_1_1;
	case MIGRATE_INFO_TYPE:
		return NO_TRUSTED_OS;
	case CPU_ON:
		return cpu_on(core);
	case AFFINITY_INFO:
		return affinity_info(core);
	case PSCI_FEATURES:
		return number_of((uint32_t)guest_read(core, 1)) == NOT_OFFERED ? NOT_SUPPORTED : SUCCESS;
	case SYSTEM_RESET2: /* of a kind that is the vendor's */
		return INVALID_PARAMETERS;
	default:
		return NOT_SUPPORTED;
	}
}

/* A sandbox without a core could never start one: the last to go takes the sandbox with it. */
static enum hal_action cpu_off(struct hal_core *core)
{
	if (!__atomic_sub_fetch(&core->partition->cores_on, 1, __ATOMIC_ACQ_REL))
		return HAL_STOP;
	hal_core_quiesce(core);
	return HAL_RESUME;
}

enum hal_action psci_emulate(struct hal_core *core, const struct hal_exit *exit)
{
	unsigned number = number_of((uint32_t)exit->gpa);

	if (number == SYSTEM_OFF)
		return HAL_STOP;
	if (number == SYSTEM_RESET || (number == SYSTEM_RESET2 && !argument(core, 1))) /* SYSTEM_WARM_RESET */
		return HAL_RESTART;
	if (number == CPU_OFF)
		return cpu_off(core);
	hal_core_set_result(core, (uint64_t)answer(core, number));
	return HAL_SKIP;
}

void hal_core_quiesce(struct hal_core *core)
{
	guest_quiesce();
	gic_quiesce();
	set_power(core, POWER_OFF);
}

/*
 * A core that is being started, or has been since it looked, has perhaps had its signal already, and one with a kick to answer may have
 * cleared that: it does not sleep. In a sandbox that has ended nobody starts.
 */
void hal_core_wait(struct hal_core *core)
{
	bool starting = power_of(core) >= POWER_PENDING && !__atomic_load_n(&core->partition->closed, __ATOMIC_ACQUIRE);

	if (starting || kick_is_pending(core))
		arch_relax();
	else
		gic_wait(core);
}

bool hal_core_ready(struct hal_core *core)
{
	if (power_of(core) == POWER_STARTED) {
		gic_clear_signal();
		gic_reset_core(core);
		kick_repeat_notice(core);
		guest_start(core);
		set_power(core, POWER_ON);
	}
	return power_of(core) == POWER_ON || core->guest.trap;
}

bool hal_partition_quiesce(struct hal_core *core)
{
	bool quiet;

	pci_reset(&core->partition->pci, core->self, PCI_SILENT);
	gic_reset_lines(core->partition);
	quiet = iommu_close(&core->partition->iommu, core->self);
	pci_reset(&core->partition->pci, core->self, PCI_FUNCTION_RESET);
	return quiet;
}

/*
 * Whatever cores that were still running asked of those that had stopped is forgotten. A line that is off still keeps an edge: what has
 * come since hal_partition_quiesce is an earlier life's.
 */
void hal_core_restart(struct hal_core *core)
{
	struct hal_partition *partition = core->partition;

	for (uint32_t slot = 1; slot < partition->core_count; slot++)
		set_power(partition->siblings[slot], POWER_OFF);
	partition->cores_on = 1;
	gic_reset_lines(partition);
	partition->gic.control = 0;
	pci_reset(&partition->pci, core->self, PCI_COMMAND_DECODE);
	(void)iommu_open(&partition->iommu, core->self); /* closed or open: both are the sandbox's own */
	kick_reopen(core);
	core->entry = partition->entry;
	set_power(core, POWER_STARTED);
}
