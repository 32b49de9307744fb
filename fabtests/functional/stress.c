/* SPDX-License-Identifier: BSD-2-Clause */
/* What the threads of a case share: the options, the first failure. */
#include <stdarg.h>

#include "stress.h"

struct st_opts fct_st_opts = {.lanes = 6, .threads = 3};

int fct_st_fail(struct st *s, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&s->failing);
	if (!s->failed) {
		va_start(ap, fmt);
		vsnprintf(s->why, sizeof(s->why), fmt, ap);
		va_end(ap);
		s->failed = true;
	}
	pthread_mutex_unlock(&s->failing);
	return -1;
}
