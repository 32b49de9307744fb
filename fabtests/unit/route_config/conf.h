/* SPDX-License-Identifier: BSD-2-Clause */
/* Configurations for tests. */
#ifndef ROUTE_CONF_H
#define ROUTE_CONF_H

#include "cairn_test.h"
#include "config/config.h"

/* A configuration that has to be right; NULL, and a failure with what is wrong, if not.
 */
struct rte_config *conf_parse(const char *text);
/* Reads text; all that is wrong as the lines of rte_config_errors_print, "" if nothing
 * is. The name in them is "f". Valid until the next call. */
const char *conf_wrong(const char *text);
/* Lines of errors. Valid until the next call. */
const char *conf_errors(const struct rte_config_errors *errors);
/* Errors as lines, and what they have to be: of each the data in it, its place first. */
#define CONF_EXPECT_ERRORS(got, wanted) \
	conf_expect_errors(__FILE__, __LINE__, got, wanted)
void conf_expect_errors(const char *file, int line, const char *got, const char *wanted);
/* What rte_config_write writes, for free(3). */
char *conf_text(const struct rte_config *config);
/* A file of the source tree, for free(3), with a 0 behind it; NULL, and a failure. */
char *conf_source(const char *name, size_t *len);
const char *conf_path(const char *name);

/* Two routers' and a client's configuration with every keyword. */
extern const char conf_router_all[];
extern const char conf_client_all[];

#endif
