/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up, as a recipe. Runs once on the boot core with everything mapped one to one, builds every sandbox, sends each
 * core into its own, and is gone: no private monitor maps this code.
 */
#include "monitor/boot/boot.h"

#include "arch/arch.h"
#include "arch/words.h"
#include "monitor/boot/table/table.h"
#include "board.h"

extern char __image_start[], __image_end[];

/* Filled by the tool when it makes the image. */
__attribute__((section(".partition_table"))) struct bh_table partition_table;

static struct build builds[BH_MAX_SANDBOXES];

static struct table_limits this_machine(void)
{
	return (struct table_limits){ &board, (uintptr_t)__image_start, (uintptr_t)__image_end };
}

static void check_table(const struct bh_table *table)
{
	const struct table_limits limits = this_machine();
	const char *why = table_refuse(table, &limits);

	if (why)
		monitor_refuse("partition table refused", why);
}

static void check_machine(void)
{
	const char *missing = "";

	if (hal_probe(&missing) != HAL_OK)
		monitor_refuse("cannot start", missing);
}

static void silence_functions(void)
{
	if (!hal_machine_silence_functions())
		monitor_refuse("cannot start",
			       "a PCI function does not stop mastering the bus; take it out, or switch it off in the firmware");
}

static void block_dma(const struct bh_table *table)
{
	const char *missing = "";

	if (hal_machine_block_dma((hpa_t){ table->iommu_tables }, &missing) != HAL_OK || hal_machine_try_dma(&missing) != HAL_OK)
		monitor_refuse("cannot start", missing);
}

static void trust_module(const char *why)
{
	if (why)
		monitor_refuse("boot module refused", why);
}

/*
 * BH-I1.dma: what a loader left at work changes nothing that has been checked. The loader may have put the boot module where the IOMMU's
 * tables go, so the module is moved, unread, before they are filled, and checked where it has come to lie.
 */
static void take_payload(const struct bh_table *table)
{
	const struct table_limits limits = this_machine();
	const struct arch_modules modules = arch_boot_modules();

	silence_functions();
	trust_module(table_refuse_modules(table, &limits, &modules));
	module_spread(table, modules.start);
	block_dma(table);
	trust_module(table_refuse_spread(table));
}

/* This core becomes the table's core 0. If it is another one, kicks and interrupts for core 0 would go elsewhere. */
static void check_boot_core(const struct bh_table *table)
{
	if (hal_machine_core_id() != table->hardware_id[0])
		monitor_refuse("cannot start",
			       "the machine has not started on the core that the board tree names first; let the firmware do "
			       "so, or reorder the board tree's cpus");
}

/* The kick mailboxes begin without requests, whatever a loader or an earlier system left there. */
static void clear_shared(uint64_t shared)
{
	uint64_t *words = (uint64_t *)(uintptr_t)shared;

	words_fill(words, BH_PAGE_BYTES / WORD_BYTES, 0);
	arch_cache_publish(words, BH_PAGE_BYTES);
}

/* If something on this core that writes to memory or interrupts cannot be switched off, its sandbox is parked. */
static void launch(const struct build *build, uint32_t slot)
{
	if (!hal_core_disarm(build->cores[slot]))
		build_condemn(build, slot);
	hal_core_launch(build->cores[slot], build->space, build->stack_tops[slot], monitor_run);
}

/* Finds who owns a machine core; the table has been checked, so at most one does. */
static const struct build *owner_of(uint32_t core_number, uint32_t *slot)
{
	for (uint32_t n = 0; n < partition_table.sandbox_count; n++)
		for (*slot = 0; *slot < builds[n].sandbox->core_count; ++*slot)
			if (builds[n].sandbox->cores[*slot] == core_number)
				return &builds[n];
	return NULL;
}

_Noreturn void monitor_core_boot(uint32_t core_number)
{
	uint32_t slot;
	const struct build *build = owner_of(core_number, &slot);

	if (build)
		launch(build, slot);
	arch_halt();
}

/*
 * The boot core goes last. Where firmware does not start a core, start-up refuses while it is alone; once a sandbox runs, the
 * machine and the console are no longer start-up's to stop, and the one that did not start stays cold, as its statistics tell.
 */
static void start_core(const struct bh_table *table, uint32_t core, bool *alone)
{
	if (hal_core_start(table->hardware_id[core], core) == HAL_OK)
		*alone = false;
	else if (*alone)
		monitor_refuse("cannot start", "the firmware does not start a core the table names; check the board tree's cpus");
}

static void start_other_cores(const struct bh_table *table)
{
	bool alone = true;

	for (uint32_t n = 0; n < table->sandbox_count; n++)
		for (uint32_t slot = 0; slot < table->sandboxes[n].core_count; slot++)
			if (table->sandboxes[n].cores[slot])
				start_core(table, table->sandboxes[n].cores[slot], &alone);
}

_Noreturn void monitor_boot(void)
{
	const struct bh_table *table = &partition_table;
	struct boot_clock clock = { .entered = arch_counter() };

	/* 1. Trust nothing unchecked: the table, the machine, and, when no device can change it, what the loader brought. */
	check_table(table);
	check_machine();
	take_payload(table);

	/* 2. Quiet hardware, one time base. */
	hal_machine_init();
	check_boot_core(table);
	clock.hz = hal_machine_clock_hz();
	if (!clock.hz)
		monitor_refuse("cannot start",
			       "the machine's counter does not run or does not tell its frequency; the firmware has to set it");

	/* 3. The page monitors share; every sandbox; every monitor's own tables. Payload is there: its module may have lain anywhere. */
	clear_shared(table->shared);
	channels_prepare(table);
	for (uint32_t n = 0; n < table->sandbox_count; n++)
		build_partition(table, n, &clock, &builds[n]);
	for (uint32_t n = 0; n < table->sandbox_count; n++)
		build_space(table, builds, n);

	monitor_banner(table);

	/* 4. Everything above is visible to every core before any of them starts. */
	arch_cache_publish(__image_start, (size_t)(__image_end - __image_start));
	arch_barrier();
	start_other_cores(table);

	/* 5. The boot core becomes an ordinary core of its sandbox; this code is never seen again. */
	monitor_core_boot(0);
}
