// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Ringing the other end, by a call of the monitor below this sandbox: abi/guest.h, BH_CALL_DOORBELL. One exit, of who rings. What comes
 * sooner after the last ring than was granted is refused, and rung by a timer.
 */
#include <linux/module.h>
#if defined(CONFIG_ARM) || defined(CONFIG_ARM64)
#include <linux/arm-smccc.h>
#else
#include <asm/processor.h>
#endif

#include "device.h"

#if defined(CONFIG_ARM) || defined(CONFIG_ARM64)
static long call_doorbell(u32 number)
{
	const unsigned long function = sizeof(long) == sizeof(u64) ? BH_CALL_DOORBELL : BH_CALL_DOORBELL & ~(unsigned long)BH_CALL_64;
	struct arm_smccc_res result;

	arm_smccc_1_1_hvc(function, number, &result);
	return (long)result.a0;
}
#else
static long call_doorbell(u32 number)
{
	const unsigned int vendor = boot_cpu_data.x86_vendor;
	long result;

	if (vendor == X86_VENDOR_AMD || vendor == X86_VENDOR_HYGON)
		__asm__ volatile("vmmcall" : "=a"(result) : "a"((unsigned long)BH_CALL_DOORBELL), "b"((unsigned long)number) : "memory");
	else
		__asm__ volatile("vmcall" : "=a"(result) : "a"((unsigned long)BH_CALL_DOORBELL), "b"((unsigned long)number) : "memory");
	return result;
}
#endif

static enum hrtimer_restart ring_again(struct hrtimer *timer)
{
	struct channel *channel = container_of(timer, struct channel, later);

	(void)call_doorbell(channel->number);
	return HRTIMER_NORESTART;
}

void channel_ring(struct channel *channel)
{
	if (!channel->gap_us || !bh_end_is_wanted(&channel->first))
		return;
	/* A timer that is set already rings for this one, too. */
	if (call_doorbell(channel->number) == BH_E_LATER && !hrtimer_is_queued(&channel->later))
		hrtimer_start(&channel->later, ns_to_ktime((u64)channel->gap_us * NSEC_PER_USEC), HRTIMER_MODE_REL_SOFT);
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
