/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PNG_RUN_H
#define PNG_RUN_H

#include "end.h"

/* 0 or 1, the exit status; what went wrong is on stderr. */
int png_client(const struct png_options *options);
int png_server(const struct png_options *options);

/* Signals stop what is measured, from now on: png_stops. */
void png_catch(void);

#endif
