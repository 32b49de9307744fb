/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PNG_REPORT_H
#define PNG_REPORT_H

#include "end.h"

struct png_report {
	const struct png_end *end;
	struct ping_figures out, in; /* in: of the server's Calls */
	bool begun;		     /* figures mean something */
	bool answered;		     /* in does */
	const char *error;	     /* NULL: there was none */
};

/* On the standard output. False: that failed, and it is said. */
bool png_report(const struct png_report *report);

#endif
