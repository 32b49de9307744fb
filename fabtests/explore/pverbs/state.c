/* SPDX-License-Identifier: BSD-2-Clause */
#include "state.h"

struct program xpv_program = {.now = PROGRAM_BEGIN};
