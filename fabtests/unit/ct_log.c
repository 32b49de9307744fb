/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the log lines of the code under test; see ct_alloc.c for the wrapping. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <rdma/fabric.h>
#include <rdma/providers/fi_log.h>
#include "cairn_test.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int count, warnings;
static char last[2048], warning[2048];

int __wrap_fi_log_enabled(const struct fi_provider *prov, enum fi_log_level level,
			  enum fi_log_subsys subsys);
int __wrap_fi_log_ready(const struct fi_provider *prov, enum fi_log_level level,
			enum fi_log_subsys subsys, uint64_t *showtime);
void __wrap_fi_log(const struct fi_provider *prov, enum fi_log_level level,
		   enum fi_log_subsys subsys, const char *func, int line, const char *fmt,
		   ...) __attribute__((format(printf, 6, 7)));

int __wrap_fi_log_enabled(const struct fi_provider *prov, enum fi_log_level level,
			  enum fi_log_subsys subsys)
{
	return 1;
}

int __wrap_fi_log_ready(const struct fi_provider *prov, enum fi_log_level level,
			enum fi_log_subsys subsys, uint64_t *showtime)
{
	return 1;
}

void __wrap_fi_log(const struct fi_provider *prov, enum fi_log_level level,
		   enum fi_log_subsys subsys, const char *func, int line, const char *fmt,
		   ...)
{
	va_list args;

	pthread_mutex_lock(&lock);
	va_start(args, fmt);
	vsnprintf(last, sizeof(last), fmt, args);
	va_end(args);
	last[strcspn(last, "\n")] = '\0';
	count++;
	if (level == FI_LOG_WARN) {
		strcpy(warning, last);
		warnings++;
	}
	pthread_mutex_unlock(&lock);
}

static unsigned int look(const unsigned int *lines)
{
	unsigned int now;

	pthread_mutex_lock(&lock);
	now = *lines;
	pthread_mutex_unlock(&lock);
	return now;
}

unsigned int ct_log_count(void)
{
	return look(&count);
}

const char *ct_log_last(void)
{
	return last;
}

unsigned int ct_log_warnings(void)
{
	return look(&warnings);
}

const char *ct_log_warning(void)
{
	return warning;
}

void ct_log_reset(void)
{
	pthread_mutex_lock(&lock);
	count = warnings = 0;
	last[0] = warning[0] = '\0';
	pthread_mutex_unlock(&lock);
}
