/* SPDX-License-Identifier: Apache-2.0 */
/* A line for each command of the kernel (shell_help.h). tests/structure/test_shell.py: for all of them. docs/guest.md says more. */
#include "kernel/core/shell_help.h"

#include <stddef.h>

#include "kernel/core/text.h"

static const struct {
	const char *name, *line;
} lines[] = {
	{ "help", ": lists the commands" },
	{ "info", ": this sandbox and its grants" },
	{ "heartbeat", "=HZ: beats so often; 0: not at all" },
	{ "delay", "=US: one beat comes so late" },
	{ "ticks", "=N: waits for so many timer interrupts of 100 us" },
	{ "wait", "=MS: waits" },
	{ "stream", "=PASSES: copies memory in order" },
	{ "random", "=UPDATES: changes memory out of order" },
	{ "notices", "=N: waits until so many sandboxes have been parked" },
	{ "follow", "=SANDBOX: says each line of its log, for ever" },
	{ "kick", "=SANDBOX,N: kicks that number so often" },
	{ "channels", ": channels to other sandboxes" },
	{ "send", "=CHANNEL,TEXT: one message" },
	{ "receive", "=CHANNEL: one message, or the latest value" },
	{ "open", "=CHANNEL: one that is opened on request" },
	{ "close", "=CHANNEL: the same" },
	{ "reopen", "=CHANNEL,N: opens and closes it so often" },
	{ "ring", "=CHANNEL: its doorbell at the other end" },
	{ "rung", "=CHANNEL: how often its doorbell has rung here" },
	{ "cores", ": how the cores stand" },
	{ "core", "=N,on =N,off =N,COMMAND: starts or stops a core, or has it run a command" },
	{ "read", "=ADDRESS: four bytes" },
	{ "write", "=ADDRESS,VALUE: four bytes" },
	{ "threads", ": where each thread is, and what its vcpu has had" },
	{ "vcpus", ": what each vcpu was promised and given" },
	{ "vcpu", "=BUDGET_US,PERIOD_US,PROGRAM: a program on a vcpu" },
	{ "start", "=NAME[,BUDGET_US,PERIOD_US]: a program on a vcpu; 1,000 of 100,000 us" },
	{ "stop", "=NAME: it runs no more, until it is started again" },
	{ "set", "=VCPU,BUDGET_US,PERIOD_US: another budget and period" },
	{ "irqs", ": interrupts served, by number" },
	{ "exits", ": exits into the monitor, by reason" },
	{ "mem", ": frames, stacks, page tables, image" },
	{ "dmesg", "[=N]: the last lines of the log" },
	{ "uptime", ": for how long, and in which life" },
	{ "trace", "=on =BYTES =off: writes down what runs" },
	{ "life", ": how often it has begun again" },
	{ "crash", "[=N]: a forbidden write; in the first N lives" },
	{ "dma-faults", ": what the IOMMU has blocked" },
	{ "reboot", "[=N]: begins again; in the first N lives" },
	{ "park", ": ends" },
};

const char *shell_help(const char *name)
{
	for (size_t n = 0; n < sizeof(lines) / sizeof(lines[0]); n++)
		if (text_equal(lines[n].name, name))
			return lines[n].line;
	return "";
}
