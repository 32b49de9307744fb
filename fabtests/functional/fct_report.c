/* SPDX-License-Identifier: BSD-2-Clause */
/* Recording how a case ended. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fct.h"

const char *fct_role_name(const struct fct *t)
{
	if (t->prog->single)
		return "test";
	return fct_is_server(t) ? "server" : "client";
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int fct_fail_at(struct fct *t, const char *file, int line, const char *fmt, ...)
{
	char why[FCT_WHY_LEN];
	int used;
	va_list ap;

	va_start(ap, fmt);
	used = vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (file && used > 0 && (size_t)used < sizeof(why))
		snprintf(why + used, sizeof(why) - (size_t)used, " at %s:%d",
			 base_name(file), line);

	/* Only the first failure counts: later ones are its consequences. */
	if (t->result != FCT_PASS) {
		fct_note(t, "then: %s", why);
		return -1;
	}
	t->result = FCT_FAIL;
	snprintf(t->why, sizeof(t->why), "%s", why);
	return -1;
}

int fct_skip(struct fct *t, const char *fmt, ...)
{
	va_list ap;

	if (t->result != FCT_PASS)
		return -1;
	t->result = FCT_SKIP;
	va_start(ap, fmt);
	vsnprintf(t->why, sizeof(t->why), fmt, ap);
	va_end(ap);
	return -1;
}

void fct_note(struct fct *t, const char *fmt, ...)
{
	va_list ap;

	if (!t->opts.verbose)
		return;
	printf("# %s: ", fct_role_name(t));
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}
