/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RCT_WRONG_H
#define RCT_WRONG_H

/* Says what is wrong with the command line, and ends the process with status 2. */
__attribute__((format(printf, 1, 2), noreturn)) void rct_wrong(const char *format, ...);

#endif
