/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RLG_CLIENT_H
#define RLG_CLIENT_H

#include "options.h"

/* Appends, measures, prints. The program's exit status. */
int rlg_append_all(const struct rlg_options *options);

#endif
