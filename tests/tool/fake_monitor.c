/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a monitor leaves in memory, without being one: statistics, a log ring with heartbeats, a crash record; and a serial
 * line that answers. RAM is zero when it starts. Lets the tool's own tests run a machine of which every figure is known. AArch64, entered
 * at any level.
 */
#include "abi/table.h"

enum { UART0 = 0x09000000, UART_DATA = 0x00, UART_FLAGS = 0x18, UART_RX_EMPTY = 0x10 };

extern struct bh_table partition_table;

static void send(const char *text)
{
	for (; *text; text++)
		*(volatile uint32_t *)(UART0 + UART_DATA) = (uint8_t)*text;
}

static void write_log(struct bh_log *log, const char *text)
{
	for (; *text; text++, log->head++)
		log->text[log->head % BH_LOG_TEXT_BYTES] = (uint8_t)*text;
}

static void fill_beating(uint64_t pool)
{
	struct bh_stats *stats = (struct bh_stats *)(pool + BH_POOL_STATS);
	struct bh_log *log = (struct bh_log *)(pool + BH_POOL_LOG);

	stats->state = BH_STATE_READY;
	stats->core_count = 2;
	stats->start_clock = 62500;
	stats->ready_clock = 125000;
	stats->core[0].exits[BH_EXIT_MEMORY] = 7;
	stats->core[0].exits[BH_EXIT_CALL] = 1;
	stats->at_ready[0][BH_EXIT_MEMORY] = 5;
	stats->at_ready[0][BH_EXIT_CALL] = 1;
	stats->core[1].exits[BH_EXIT_IPI] = 4;
	stats->core[1].kicks = 9;
	stats->at_ready[1][BH_EXIT_IPI] = 3;
	stats->magic = BH_STATS_MAGIC;
	log->text_bytes = BH_LOG_TEXT_BYTES;
	log->beats = 3000;
	log->beat_period_ns = 1000000;
	log->beat_gaps = 2;
	log->magic = BH_LOG_MAGIC;
	write_log(log, "beating: \033[31mhello\033[0m\n");
}

static void fill_running(uint64_t pool)
{
	struct bh_stats *stats = (struct bh_stats *)(pool + BH_POOL_STATS);

	stats->state = BH_STATE_RUNNING;
	stats->core_count = 1;
	stats->magic = BH_STATS_MAGIC;
}

static void fill_crashed(uint64_t pool)
{
	struct bh_stats *stats = (struct bh_stats *)(pool + BH_POOL_STATS);
	struct bh_crash *crash = (struct bh_crash *)(pool + BH_POOL_CRASH);

	stats->state = BH_STATE_PARKED;
	stats->core_count = 1;
	stats->sandbox = 1;
	stats->core[0].exits[BH_EXIT_MEMORY] = 1;
	stats->magic = BH_STATS_MAGIC;
	crash->reason = BH_EXIT_MEMORY;
	crash->core = 2;
	crash->access = BH_ACCESS_WRITE;
	crash->gpa = UART0;
	crash->pc = 0x40080123;
	crash->value = 0x55;
	crash->width = 4;
	crash->register_count = 2;
	crash->reg[0] = 0xabcdef;
	crash->magic = BH_CRASH_MAGIC;
}

_Noreturn void fake_main(void);
void fake_main(void)
{
	fill_beating(partition_table.sandboxes[0].pool);
	fill_crashed(partition_table.sandboxes[1].pool);
	fill_running(partition_table.sandboxes[2].pool);
	send("bulkhead-linux: ready\r\n");
	for (;;) {
		while (*(volatile uint32_t *)(UART0 + UART_FLAGS) & UART_RX_EMPTY)
			__asm__ volatile("yield");
		char echo[2] = { (char)*(volatile uint32_t *)(UART0 + UART_DATA), 0 };
		send(echo);
	}
}

__asm__(".section .text.entry, \"ax\"\n.global _start\n_start: adrp x1, stack_top\nadd x1, x1, :lo12:stack_top\nmov sp, x1\n"
	"mrs x0, mpidr_el1\ntst x0, #0xff\nb.ne 1f\nbl fake_main\n1: wfi\nb 1b\n"
	".bss\n.balign 16\n.space 8192\nstack_top:\n"
	".section .partition_table, \"aw\", %nobits\n.balign 4096\n.global partition_table\npartition_table: .space 65536\n");
