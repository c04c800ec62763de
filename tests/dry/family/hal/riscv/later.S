/* SPDX-License-Identifier: Apache-2.0 */
/* The rest of hal.h: nothing calls it on a machine that has been refused, so one trap stands for all of it. */
	.text
.irp name, apply, argument, begin, call, create, disarm, emulate, launch, quiesce, ready, record, restart, run, set_result, slot, start, wait
	.global	hal_core_\name
hal_core_\name:
.endr
.irp name, answered, send, siblings, take
	.global	hal_kick_\name
hal_kick_\name:
.endr
.irp name, clock_hz, core_id, init
	.global	hal_machine_\name
hal_machine_\name:
.endr
.irp name, allow_kick, allow_notice, allow_ports, create, gate, grant_doorbell, grant_function, grant_line, map, query, quiesce, reset_ms, seal, show_functions
	.global	hal_partition_\name
hal_partition_\name:
.endr
.irp name, create, map, map_devices, map_ram
	.global	hal_space_\name
hal_space_\name:
.endr
	.global	hal_doorbell_ring, hal_gate_turn, hal_notice_send, hal_resident_parts
hal_doorbell_ring:
hal_gate_turn:
hal_notice_send:
hal_resident_parts:
	ebreak
1:	j	1b
