/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "wrong.h"

void rct_wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("fi_routectl: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}
