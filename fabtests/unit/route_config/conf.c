/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "conf.h"

const char conf_router_all[] = "; all that a router may say\n"
			       "[routing]\n"
			       "prefix = 10.3.2.0/24 -> 3:2\n"
			       "prefix = 10.3.2.128/25 -> 3:3\n"
			       "prefix = fd00:3::/32 -> 3:1\n"
			       "ports = 7000-7010\n"
			       "heartbeat = 500ms\n"
			       "heartbeat_loss = 4\n"
			       "connect_timeout = 2s\n"
			       "\n"
			       "[router]\n"
			       "name = border\n"
			       "id = 0x1f\n"
			       "metric = native,bandwidth\n"
			       "metric_scale = doc\n"
			       "static = 3,2,1,0:0\n"
			       "static = 0:0, 1 ; the way back\n"
			       "acl = 3:1 -> 4:*\n"
			       "acl = * -> 3:2\n"
			       "control = /run/cairn/border.sock\n"
			       "workers = 2\n"
			       "connections = 11\n"
			       "slots = 12\n"
			       "resolves = 13\n"
			       "refresh = 3s\n"
			       "hold_down = 20ms-2s\n"
			       "\n"
			       "[eth0]\n"
			       "transport = verbs\n"
			       "as = 3\n"
			       "subnet = 1\n"
			       "router = verbs://R2.Example:7000\n"
			       "router = verbs://[FE80::2%eth0]:7001\n"
			       "uri = verbs://10.3.1.1:7000\n"
			       "fabric = 10.3.1.0/24\n"
			       "domain = mlx5_0\n"
			       "provider = verbs\n"
			       "transit = no\n"
			       "rate = 2.5G\n"
			       "latency = 2.5us\n"
			       "cost = 31.25\n"
			       "caps = zerocopy, rma\n"
			       "frag = 1M\n"
			       "transfer = push\n"
			       "auth = required\n"
			       "key_file = /etc/cairn/a.key\n"
			       "key_id = 7\n"
			       "key_file = /etc/cairn/b.key\n"
			       "key_id = 8\n"
			       "\n"
			       "[wan]\n"
			       "transport = tcp\n"
			       "as = 0\n"
			       "subnet = 40\n"
			       "peer_as = 4\n"
			       "key_file = /etc/cairn/a.key\n"
			       "key_id = 7\n";

const char conf_client_all[] = "[eth0]\n"
			       "transport = sock\n"
			       "as = 3\n"
			       "subnet = 1\n"
			       "router = sock://10.3.1.1:7000\n"
			       "router = sock://10.3.1.2:7000\n"
			       "[ib0]\n"
			       "transport = verbs\n"
			       "[routing]\n"
			       "prefix = 10.3.2.0/24 -> 3:2\n";

const char *conf_errors(const struct rte_config_errors *errors)
{
	static char text[16384];
	FILE *out = fmemopen(text, sizeof(text), "w");

	*text = '\0';
	rte_config_errors_print(errors, out);
	fclose(out);
	return text;
}

static const char *take_line(const char *text, char line[512])
{
	snprintf(line, 512, "%.*s", (int)strcspn(text, "\n"), text);
	return text + strcspn(text, "\n") + (strchr(text, '\n') != NULL);
}

void conf_expect_errors(const char *file, int line, const char *got, const char *wanted)
{
	static const char warning[] = ": warning: ";
	char error[512], data[512];

	while (*got || *wanted) {
		got = take_line(got, error);
		wanted = take_line(wanted, data);
		ct_data(file, line, "an error", "wanted", error, data);
		ct_truth(file, line, "there is an error", *error, *data);
		ct_truth(file, line, "it is a warning", strstr(error, warning),
			 strstr(data, warning));
	}
}

const char *conf_wrong(const char *text)
{
	struct rte_config_errors errors = {0};
	struct rte_config *config;
	int ret = rte_config_parse(text, strlen(text), "f", &config, &errors);

	CT_EXPECT_EQ(!ret, !errors.errors);
	CT_EXPECT_EQ(!ret, config != NULL);
	rte_config_free(config);
	return conf_errors(&errors);
}

struct rte_config *conf_parse(const char *text)
{
	struct rte_config_errors errors = {0};
	struct rte_config *config;

	rte_config_parse(text, strlen(text), "f", &config, &errors);
	if (!config)
		CT_EXPECT_STREQ(conf_errors(&errors), "");
	return config;
}

char *conf_text(const struct rte_config *config)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	CT_EXPECT_EQ(rte_config_write(out, config), 0);
	fclose(out);
	return text;
}

const char *conf_path(const char *name)
{
	static char path[4096];
	const char *srcdir = getenv("srcdir");

	snprintf(path, sizeof(path), "%s/%s", srcdir ? srcdir : ".", name);
	return path;
}

char *conf_source(const char *name, size_t *len)
{
	FILE *file = fopen(conf_path(name), "re");
	char *text = calloc(1, RTE_CONFIG_FILE_MAX + 1);

	CT_NOTE("%s (srcdir=%s)", name, getenv("srcdir"));
	CT_EXPECT_NE(file, NULL);
	if (!file || !text) {
		free(text);
		return NULL;
	}
	*len = fread(text, 1, RTE_CONFIG_FILE_MAX, file);
	fclose(file);
	return text;
}
