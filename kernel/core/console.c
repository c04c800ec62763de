/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to the log ring and the UART, and reads lines from the UART (console.h). */
#include "kernel/core/console.h"

#include <stdatomic.h>
#include <stddef.h>

#include "kernel/core/cpu.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/rate.h"
#include "kernel/core/terminal.h"
#include "kernel/core/text.h"
#include "kernel/core/timer.h"
#include "kernel/core/uart.h"

enum { INPUT_BYTES = 256 /* more than a line has */, LINE_POLLS = 1 << 24 };

static struct bh_log *log_ring;
static const struct uart_driver *uart;
static uint32_t uart_line;
static uint32_t uart_found; /* its condition before this kernel touched it */
static bool somebody_types;
static struct rate_limit rate;
static void (*reader)(void); /* whose input is; NULL: the main program's */

/* Characters received: the interrupt handler writes at head, the main program reads at tail. */
static struct {
	char byte[INPUT_BYTES];
	_Atomic uint32_t head;
	_Atomic uint32_t tail;
} input;

static _Atomic uint64_t dots_left; /* of console_count_interrupts, including the one on its way */

static bool dots_sent(void)
{
	return atomic_load_explicit(&dots_left, memory_order_relaxed) == 0;
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

static void log_put(char c)
{
	uint64_t head = log_ring->head;

	log_ring->text[head % BH_LOG_TEXT_BYTES] = (uint8_t)c;
	__atomic_store_n(&log_ring->head, head + 1, __ATOMIC_RELEASE); /* readers in other sandboxes and the tool */
}

/* Waits with interrupts as they were: only asking for room and taking it must not be torn apart. */
static void uart_send(char c)
{
	bool sent;

	do {
		bool enabled = cpu_interrupts_disable();

		sent = uart->put(c);
		cpu_interrupts_restore(enabled);
	} while (!sent);
}

static void uart_put(char c)
{
	if (c == '\n')
		uart_send('\r');
	uart_send(c);
}

/* Lines of several cores do not mix, unless one stopped in the middle of hers: better a torn line than none. */
static atomic_flag speaking = ATOMIC_FLAG_INIT;

static void begin_line(void)
{
	for (unsigned polls = 0; polls < LINE_POLLS && atomic_flag_test_and_set_explicit(&speaking, memory_order_acquire); polls++)
		arch_relax();
}

static void end_line(void)
{
	atomic_flag_clear_explicit(&speaking, memory_order_release);
}

static void put_line(void (*put)(char c), const char *format, va_list arguments)
{
	va_list again;

	for (const char *s = (const char *)info->name; *s; s++)
		put(*s);
	put(':');
	put(' ');
	va_copy(again, arguments);
	text_format(put, format, again);
	va_end(again);
	put('\n');
}

void console_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	begin_line();
	if (log_ring)
		put_line(log_put, format, arguments);
	if (uart)
		put_line(uart_put, format, arguments);
	if (terminal_begins_line())
		put_line(terminal_put, format, arguments);
	end_line();
	va_end(arguments);
}

void console_report(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	begin_line();
	if (log_ring)
		put_line(log_put, format, arguments);
	if (uart && !somebody_types && dots_sent())
		put_line(uart_put, format, arguments);
	if (!somebody_types && terminal_begins_line())
		put_line(terminal_put, format, arguments);
	end_line();
	va_end(arguments);
}

void console_echo(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (uart)
		text_format(uart_put, format, arguments);
	va_end(arguments);
	va_start(arguments, format);
	if (terminal_exists())
		text_format(terminal_put, format, arguments);
	terminal_flush();
	va_end(arguments);
}

struct bh_log *console_log(void)
{
	return log_ring;
}

bool console_has_uart(void)
{
	return uart != NULL;
}

bool console_has_line(uint32_t line)
{
	return uart && uart_line == line;
}

/* ---- Input and interrupts ---------------------------------------------------------------------------------------- */

static void received(char c)
{
	uint32_t head = atomic_load_explicit(&input.head, memory_order_relaxed);

	if (head - atomic_load_explicit(&input.tail, memory_order_acquire) >= INPUT_BYTES)
		return; /* typed faster than read: dropped */
	input.byte[head % INPUT_BYTES] = c;
	atomic_store_explicit(&input.head, head + 1, memory_order_release);
}

static bool has_input(void)
{
	return atomic_load_explicit(&input.head, memory_order_acquire) != atomic_load_explicit(&input.tail, memory_order_relaxed);
}

/* The UART's interrupt writes its input there, too. */
static void look_at_terminal(void)
{
	bool enabled = cpu_interrupts_disable();

	terminal_read(received);
	cpu_interrupts_restore(enabled);
}

bool console_has_input(void)
{
	if (terminal_exists() && !cpu_slot())
		look_at_terminal();
	return has_input() && !reader;
}

void console_redirect_input(void (*new_reader)(void))
{
	reader = new_reader;
}

bool console_get(char *c)
{
	uint32_t tail = atomic_load_explicit(&input.tail, memory_order_relaxed);

	if (!has_input())
		return false;
	*c = input.byte[tail % INPUT_BYTES];
	atomic_store_explicit(&input.tail, tail + 1, memory_order_release);
	somebody_types = true;
	return true;
}

static void send_dot(void)
{
	uint64_t left = atomic_load_explicit(&dots_left, memory_order_relaxed);

	if (!left || (left > 1 && !uart->put((left - 1) % 64 ? '.' : '\n')))
		return; /* the main program took the room; its character will raise the next interrupt */
	atomic_store_explicit(&dots_left, left - 1, memory_order_relaxed);
}

static void unmask(struct timer_event *event, struct cpu_frame *frame)
{
	uart->receive_interrupt(true);
}

/* The first core's alone: there the UART interrupts. */
static struct timer_event unmasking = { .fire = unmask };

/* Whoever sends faster than was agreed is masked, at the device: at the controller that would be an exit. */
static void limit_rate(void)
{
	uint64_t until = rate_limit_note(&rate, arch_counter());

	if (until && !unmasking.waits) {
		uart->receive_interrupt(false);
		timer_add(&unmasking, until);
	}
}

void console_limit(uint64_t distance)
{
	rate.distance = distance;
}

void console_count(uint64_t *interrupts, uint64_t *masked)
{
	*interrupts = rate.count;
	*masked = rate.masked;
}

static void uart_interrupt(struct cpu_frame *frame)
{
	if (uart->serve(received)) /* first: a 16550 says nothing of what is masked, and keeps it */
		send_dot();
	limit_rate();
	if (reader && has_input())
		reader();
}

bool console_count_interrupts(uint64_t count)
{
	if (!uart || rate.distance) /* who sends is not masked */
		return false;
	if (!count)
		return true;
	cpu_interrupts_disable(); /* the first dot's interrupt sends the second */
	atomic_store_explicit(&dots_left, count, memory_order_relaxed);
	uart->transmit_interrupt(true);
	while (!uart->put('.'))
		arch_relax();
	cpu_interrupts_enable();
	idle_until(dots_sent);
	uart->transmit_interrupt(false);
	uart_put('\n');
	return true;
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

/* What an earlier life wrote stays: readers go on where they were. */
static void log_init(const struct bh_grant *grant)
{
	log_ring = (struct bh_log *)grant->gpa;
	log_ring->text_bytes = BH_LOG_TEXT_BYTES;
	if (log_ring->magic != BH_LOG_MAGIC)
		log_ring->head = 0;
	__atomic_store_n(&log_ring->magic, BH_LOG_MAGIC, __ATOMIC_RELEASE);
}

uint32_t console_uart_found(void)
{
	return uart_found;
}

static bool is_known(const struct uart_driver *driver, const struct bh_grant *grant)
{
	for (const char *const *name = driver->compatible; *name; name++)
		if (grant->kind == driver->kind && text_equal((const char *)grant->compatible, *name))
			return true;
	return false;
}

static const struct uart_driver *driver_of(const struct bh_grant *grant)
{
	for (const struct uart_driver *const *driver = uart_drivers; *driver; driver++)
		if (is_known(*driver, grant))
			return *driver;
	return NULL;
}

static void uart_init(const struct uart_driver *driver, const struct bh_grant *grant)
{
	uart = driver;
	uart_found = uart->condition(grant);
	uart->init(grant);
	uart_line = grant->line;
	irq_attach_device(grant, uart_interrupt);
}

void console_init(void)
{
	const struct bh_grant *log_grant = info_find(BH_GRANT_LOG, NULL);

	if (log_grant)
		log_init(log_grant);
	terminal_init();
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS && !uart; n++)
		if (driver_of(&info->grants[n]))
			uart_init(driver_of(&info->grants[n]), &info->grants[n]);
	if (info_statistics()->restarts) { /* the life before may have ended in the middle of a line */
		if (log_ring)
			log_put('\n');
		console_echo("\n");
	}
}
