/* SPDX-License-Identifier: BSD-2-Clause */
/* Recording how a case ended. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fct.h"

const char *fct_role_name(void)
{
	if (fct.prog->single)
		return "test";
	return fct_is_server() ? "server" : "client";
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int fct_fail_at(const char *file, int line, const char *fmt, ...)
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
	if (fct.result != FCT_PASS) {
		fct_note("then: %s", why);
		return -1;
	}
	fct.result = FCT_FAIL;
	snprintf(fct.why, sizeof(fct.why), "%s", why);
	return -1;
}

int fct_skip(const char *fmt, ...)
{
	va_list ap;

	if (fct.result != FCT_PASS)
		return -1;
	fct.result = FCT_SKIP;
	va_start(ap, fmt);
	vsnprintf(fct.why, sizeof(fct.why), fmt, ap);
	va_end(ap);
	return -1;
}

void fct_note(const char *fmt, ...)
{
	va_list ap;

	if (!fct.opts.verbose)
		return;
	printf("# %s: ", fct_role_name());
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}
