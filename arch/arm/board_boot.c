/* SPDX-License-Identifier: Apache-2.0 */
/* What a board.h must not say on ARM, found when the monitor is built. Nothing of it is code. */
#include "board.h"

/* start_map.h: what is over would be device memory to start-up. The first span and the last; `bulkhead check` looks at all. */
#define MAPPED_WHOLE(n) (board.ram.at[n].start % (2 << 20) == 0 && board.ram.at[n].bytes % (2 << 20) == 0)

_Static_assert(MAPPED_WHOLE(0) && MAPPED_WHOLE(board.ram.count - 1), "RAM is in multiples of 2 MiB: BOARD_RAM of board.h");
_Static_assert(board.console.uart != BOARD_UART_16550_PORTS, "there are no I/O ports: .console of board.h is a PL011 or a 16550 in memory");
_Static_assert(board.console.uart != BOARD_UART_16550 || board.console.stride == 1 || board.console.stride == 4,
	       "registers of a 16550 are 1 or 4 bytes apart: .console.stride of board.h");
_Static_assert(board.start.by != BOARD_START_SPIN_TABLE || board.start.releases.count > 0,
	       "a spin table has an address for each core: .start of board.h");
