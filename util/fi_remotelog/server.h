/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RLG_SERVER_H
#define RLG_SERVER_H

#include "options.h"

/* Serves clients, one after the other. The program's exit status. */
int rlg_serve(const struct rlg_options *options);

#endif
