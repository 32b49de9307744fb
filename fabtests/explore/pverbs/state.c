/* SPDX-License-Identifier: BSD-2-Clause */
#include "state.h"

struct program program = {.now = PROGRAM_BEGIN};
