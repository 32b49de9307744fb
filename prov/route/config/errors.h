/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking down what is wrong with configurations. */
#ifndef RTE_CONFIG_ERRORS_H
#define RTE_CONFIG_ERRORS_H

#include "config.h"

/* A wrong line; the rest is as printf. It stays in the list when there is room. The last
 * hint that was set belongs to it. */
void rte_error(struct rte_config_errors *errors, const char *file, uint32_t line,
	       const char *hint, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void rte_warning(struct rte_config_errors *errors, const char *file, uint32_t line,
		 const char *hint, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#endif
