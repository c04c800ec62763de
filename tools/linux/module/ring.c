// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Calls of the monitor below this sandbox (abi/guest.h), and ringing the other end by one, BH_CALL_DOORBELL: one exit, of who rings. What
 * comes sooner after the last ring than was granted is refused, and rung by a timer.
 */
#include <linux/module.h>
#if defined(CONFIG_ARM) || defined(CONFIG_ARM64)
#include <linux/arm-smccc.h>
#else
#include <asm/processor.h>
#endif

#include "device.h"

#if defined(CONFIG_ARM) || defined(CONFIG_ARM64)
long channel_call(unsigned long function, u32 number)
{
	struct arm_smccc_res result;

	if (sizeof(long) != sizeof(u64))
		function &= ~(unsigned long)BH_CALL_64;
	arm_smccc_1_1_hvc(function, number, &result);
	return (long)result.a0;
}
#else
long channel_call(unsigned long function, u32 number)
{
	const unsigned int vendor = boot_cpu_data.x86_vendor;
	long result;

	if (vendor == X86_VENDOR_AMD || vendor == X86_VENDOR_HYGON)
		__asm__ volatile("vmmcall" : "=a"(result) : "a"(function), "b"((unsigned long)number) : "memory");
	else
		__asm__ volatile("vmcall" : "=a"(result) : "a"(function), "b"((unsigned long)number) : "memory");
	return result;
}
#endif

static void ring_later(struct channel *channel)
{
	hrtimer_start(&channel->later, ns_to_ktime((u64)channel->gap_us * NSEC_PER_USEC), HRTIMER_MODE_REL_SOFT);
}

/*
 * Again, if it was rung since the timer was set: what came too soon after that has been left to the timer. Started and not forwarded, as
 * channel_ring may start it meanwhile, on another core.
 */
static enum hrtimer_restart ring_again(struct hrtimer *timer)
{
	struct channel *channel = container_of(timer, struct channel, later);

	if (channel_call(BH_CALL_DOORBELL, channel->number) == BH_E_LATER)
		ring_later(channel);
	return HRTIMER_NORESTART;
}

void channel_ring(struct channel *channel)
{
	if (!channel->gap_us || !bh_end_is_wanted(&channel->first))
		return;
	/* A timer that is set already rings for this one, too: nobody who waits for ever makes each message an exit. */
	if (!hrtimer_is_queued(&channel->later) && channel_call(BH_CALL_DOORBELL, channel->number) == BH_E_LATER)
		ring_later(channel);
}

void channel_ring_init(struct channel *channel)
{
	hrtimer_init(&channel->later, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	channel->later.function = ring_again;
}

void channel_ring_end(struct channel *channel)
{
	hrtimer_cancel(&channel->later);
}
