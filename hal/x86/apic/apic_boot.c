/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: x2APIC mode, a timer to sleep by, and the interrupts that start other cores. */
#include "hal/x86/apic/apic.h"

#include "arch/arch.h"
#include "arch/x86_64/start.h"
#include "arch/x86_64/x86.h"

enum { APIC_BASE_ENABLE = 1 << 11, APIC_BASE_EXTD = 1 << 10, SVR_SPURIOUS = 0xff, DIVIDE_BY_1 = 0xb };
enum { ICR_ALL_BUT_SELF = 3 << 18 }; /* SDM vol. 3A, 11.6.1 "Interrupt Command Register (ICR)", destination shorthand */
enum { SLEEP_TICKS = 20000, STARTUP_TRIES = 50000, TPR_BELOW_TICK = 0xe0 };

void apic_init(void)
{
	uint64_t base = x86_rdmsr(MSR_APIC_BASE) | APIC_BASE_ENABLE;

	x86_wrmsr(MSR_APIC_BASE, base); /* from disabled there is no direct way. APM vol. 2, 16.9 "Detecting and Enabling x2APIC Mode" */
	x86_wrmsr(MSR_APIC_BASE, base | APIC_BASE_EXTD);
	x86_wrmsr(APIC_SVR, SVR_ENABLE | SVR_SPURIOUS);
	x86_wrmsr(APIC_TPR, 0);
	apic_quiet();
}

/* SDM vol. 3A, 9.4.3 "MP Initialization Protocol Algorithm for MP Systems": wait-for-SIPI executes nothing. */
void apic_stop_others(void)
{
	x86_wrmsr(APIC_ICR, ICR_ALL_BUT_SELF | ICR_ASSERT | APIC_INIT << 8);
}

__attribute__((interrupt)) static void tick(void *frame)
{
	x86_wrmsr(APIC_EOI, 0);
}

/*
 * Whatever else the firmware left pending stays so: the tick is in the highest class. SDM vol. 3A, 11.8.3.1
 * "Task and Processor Priorities".
 */
void apic_sleep(void)
{
	x86_wrmsr(APIC_TPR, TPR_BELOW_TICK);
	x86_wrmsr(APIC_TIMER_DIVIDE, DIVIDE_BY_1);
	x86_wrmsr(APIC_LVT_TIMER, X86_VECTOR_TICK);
	x86_wrmsr(APIC_TIMER_INITIAL, SLEEP_TICKS);
	x86_sleep((void (*)(void))tick);
	x86_wrmsr(APIC_LVT_TIMER, LVT_MASKED);
	x86_wrmsr(APIC_TPR, 0);
}

/*
 * SDM vol. 3A, 9.4.4 "MP Initialization Example", without its 10 ms: no processor with SVM or VT-x needs them. A STARTUP
 * that comes before INIT has been carried out is lost, and is harmless to a core that runs; so it is repeated, for a second
 * or so: an emulator's cores are threads, which a busy host keeps waiting. A core that has not come may yet come, and would take what is
 * meant for the next one: after it none is started any more.
 */
enum hal_status hal_core_start(uint64_t hardware_id, uint32_t argument)
{
	uint32_t apic_id = (uint32_t)hardware_id;
	static bool is_awaited;
	uint8_t vector;

	if (is_awaited)
		return HAL_E_UNSUPPORTED;
	vector = x86_trampoline_prepare(argument);
	apic_send(apic_id, APIC_INIT, 0);
	for (unsigned tries = STARTUP_TRIES; tries && !x86_trampoline_taken(); tries--) {
		apic_send(apic_id, APIC_STARTUP, vector);
		apic_sleep();
	}
	is_awaited = !x86_trampoline_taken();
	return is_awaited ? HAL_E_UNSUPPORTED : HAL_OK;
}
