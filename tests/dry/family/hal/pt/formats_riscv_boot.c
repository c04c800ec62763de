/* SPDX-License-Identifier: Apache-2.0 */
/* No table is made for a machine that is refused: Sv39x4 and Sv39 will stand here. */
#include "hal/pt/format.h"
