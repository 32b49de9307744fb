/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RLG_RECOVER_H
#define RLG_RECOVER_H

#include "options.h"

/*
 * Says what is in a log's file. The program's exit status: 0: the log is whole; 1: the
 * file holds none; 3: it is damaged, or lacks records that were acknowledged.
 */
int rlg_recover_file(const struct rlg_options *options);

#endif
