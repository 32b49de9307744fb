/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <string.h>
#include "errors.h"

static void errors_add(struct rte_config_errors *errors, bool warning, const char *file,
		       uint32_t line, const char *hint, const char *format, va_list args)
{
	const size_t len = strlen(file);
	struct rte_config_error *error;

	if (warning)
		errors->warnings++;
	else
		errors->errors++;
	if (errors->count == RTE_CONFIG_ERRORS_MAX)
		return;
	error = &errors->error[errors->count++];
	if (len >= sizeof(error->file))
		file += len - sizeof(error->file) + 1;
	snprintf(error->file, sizeof(error->file), "%s", file);
	error->line = line;
	error->warning = warning;
	vsnprintf(error->text, sizeof(error->text), format, args);
	snprintf(error->hint, sizeof(error->hint), "%s", hint ? hint : "");
}

void rte_error(struct rte_config_errors *errors, const char *file, uint32_t line,
	       const char *hint, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	errors_add(errors, false, file, line, hint, format, args);
	va_end(args);
}

void rte_warning(struct rte_config_errors *errors, const char *file, uint32_t line,
		 const char *hint, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	errors_add(errors, true, file, line, hint, format, args);
	va_end(args);
}

void rte_config_errors_print(const struct rte_config_errors *errors, FILE *out)
{
	const uint32_t more = errors->errors + errors->warnings - errors->count;
	const struct rte_config_error *error;
	uint32_t i;

	for (i = 0; i < errors->count; i++) {
		error = &errors->error[i];
		fprintf(out, "%s:", error->file);
		if (error->line)
			fprintf(out, "%u:", error->line);
		fprintf(out, " %s%s", error->warning ? "warning: " : "", error->text);
		if (*error->hint)
			fprintf(out, " (%s)", error->hint);
		fputc('\n', out);
	}
	if (more)
		fprintf(out, "and %u more\n", more);
}
