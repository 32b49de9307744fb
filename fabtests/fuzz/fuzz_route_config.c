/* SPDX-License-Identifier: BSD-2-Clause */
/* Configurations of routers and clients, and addresses, as somebody may write them. */
#include <string.h>
#include <rdma/fi_errno.h>
#include "config/config.h"
#include "fuzz.h"

/* A file opens a stream, writes and reads again. */
unsigned int fuzz_runs(void)
{
	return 20000;
}

static char *write_config(const struct rte_config *config, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	FUZZ_CHECK(out && !rte_config_write(out, config));
	fclose(out);
	return text;
}

/* What was read is written, read as the same, and written as the same. */
static void check_again(const struct rte_config *config)
{
	static struct rte_config_errors errors;
	struct rte_config *again;
	char *first, *second;
	size_t first_len, second_len;

	memset(&errors, 0, sizeof(errors));
	first = write_config(config, &first_len);
	FUZZ_CHECK(!rte_config_parse(first, first_len, "again", &again, &errors));
	second = write_config(again, &second_len);
	FUZZ_CHECK(first_len == second_len && !memcmp(first, second, first_len));
	rte_config_free(again);
	free(first);
	free(second);
}

static void check_errors(const struct rte_config_errors *errors)
{
	const struct rte_config_error *error;

	FUZZ_CHECK(errors->count <= RTE_CONFIG_ERRORS_MAX);
	for (error = errors->error; error < errors->error + errors->count; error++) {
		FUZZ_CHECK(!strcmp(error->file, "file"));
		FUZZ_CHECK(*error->text && !strpbrk(error->text, "\r\n\033"));
		FUZZ_CHECK(strnlen(error->hint, sizeof(error->hint)) <
			   sizeof(error->hint));
	}
}

static void check_limits(const struct rte_config *config)
{
	FUZZ_CHECK(config->devices <= RTE_CONFIG_DEVICES_MAX);
	FUZZ_CHECK(config->routing.prefixes <= RTE_CONFIG_PREFIXES_MAX);
	FUZZ_CHECK(config->router.routes <= RTE_CONFIG_STATICS_MAX);
	FUZZ_CHECK(config->router.acls <= RTE_CONFIG_ACLS_MAX);
	FUZZ_CHECK(!config->is_router || (config->router.id && config->router.as));
	for (uint32_t i = 0; i < config->devices; i++) {
		FUZZ_CHECK(config->device[i].transport != RTE_TRANSPORT_ANY);
		FUZZ_CHECK(config->device[i].routers <= RTE_CONFIG_ROUTERS_MAX);
		FUZZ_CHECK(!config->device[i].uri.text ||
			   strlen(config->device[i].uri.text) <= RTE_URI_MAX);
		FUZZ_CHECK(config->device[i].at.as != RTE_AS_WAN ||
			   !config->device[i].has_as || config->device[i].keys);
	}
}

static void check_file(const char *text, size_t len)
{
	static struct rte_config_errors errors;
	struct rte_config *config;
	int ret;

	memset(&errors, 0, sizeof(errors));
	ret = rte_config_parse(text, len, "file", &config, &errors);
	FUZZ_CHECK(ret == 0 || ret == -FI_EINVAL);
	FUZZ_CHECK(!ret == !errors.errors && !ret == !!config);
	check_errors(&errors);
	if (ret)
		return;
	check_limits(config);
	check_again(config);
	ret = rte_config_check_set(&config, 1, &errors);
	FUZZ_CHECK(ret == 0 || ret == -FI_EINVAL);
	rte_config_free(config);
}

/* The first line as an address. */
static void check_uri(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len), *why;
	char *line = strndup(text, end ? (size_t)(end - text) : len);
	char buf[RTE_URI_SIZE], again_buf[RTE_URI_SIZE];
	struct rte_uri uri, again;

	if (!rte_uri_parse(line, &uri, &why)) {
		rte_uri_print(&uri, buf);
		FUZZ_CHECK(!rte_uri_parse(buf, &again, &why));
		FUZZ_CHECK(rte_uri_same(&uri, &again));
		FUZZ_CHECK(!memcmp(uri.addr, again.addr, sizeof(uri.addr)));
		FUZZ_CHECK(!strcmp(rte_uri_print(&again, again_buf), buf));
		if (uri.routed)
			FUZZ_CHECK(!rte_uri_parse(rte_uri_print_cci(&uri, buf), &again,
						  &why));
	} else {
		FUZZ_CHECK(why && *why);
	}
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_file((const char *)data, size);
	if (size)
		check_uri((const char *)data, size);
	return 0;
}
