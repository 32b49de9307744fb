/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file says is in struct rte_config. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <rdma/fi_errno.h>
#include "conf.h"

CT_TEST(read, a_client_has_devices_and_prefixes)
{
	struct rte_config_errors errors = {0};
	const struct rte_config_device *eth0, *ib0;
	struct rte_config *config;

	CT_EXPECT_EQ(rte_config_parse(conf_client_all, strlen(conf_client_all), "f",
				      &config, &errors),
		     0);
	CONF_EXPECT_ERRORS(conf_errors(&errors), "f:7: warning: ib0");
	CT_ASSERT_NE(config, NULL);
	CT_EXPECT_STREQ(config->file, "f");
	CT_EXPECT_FALSE(config->is_router);
	CT_ASSERT_EQ(config->devices, 2);
	eth0 = &config->device[0];
	ib0 = &config->device[1];
	CT_EXPECT_STREQ(eth0->name, "eth0");
	CT_EXPECT_EQ(eth0->line, 1);
	CT_EXPECT_EQ(eth0->transport, RTE_TRANSPORT_SOCK);
	CT_EXPECT_EQ(eth0->at.as, 3);
	CT_EXPECT_EQ(eth0->at.subnet, 1);
	CT_EXPECT_TRUE(eth0->routable);
	CT_ASSERT_EQ(eth0->routers, 2);
	CT_EXPECT_STREQ(eth0->router[1].text, "sock://10.3.1.2:7000");
	CT_EXPECT_EQ(eth0->router[1].line, 6);
	CT_EXPECT_EQ(eth0->router[1].uri.port, 7000);
	CT_EXPECT_EQ(eth0->caps, 0);
	CT_EXPECT_EQ(eth0->auth, RTE_AUTH_OPEN);
	CT_EXPECT_EQ(eth0->frag, 262144);
	CT_EXPECT_FALSE(ib0->routable);
	CT_EXPECT_FALSE(ib0->has_as);
	CT_EXPECT_FALSE(ib0->has_subnet);
	CT_EXPECT_EQ(ib0->caps, 7);
	CT_EXPECT_EQ(config->routing.prefixes, 1);
	CT_EXPECT_EQ(config->routing.heartbeat, 1000);
	CT_EXPECT_EQ(config->routing.heartbeat_loss, 3);
	CT_EXPECT_EQ(config->routing.connect_timeout, 5000);
	CT_EXPECT_EQ(config->routing.port_first, 0);
	rte_config_free(config);
}

static void expect_device(const struct rte_config_device *eth0)
{
	CT_EXPECT_EQ(eth0->transport, RTE_TRANSPORT_VERBS);
	CT_EXPECT_TRUE(eth0->routable);
	CT_ASSERT_EQ(eth0->routers, 2);
	CT_EXPECT_STREQ(eth0->router[0].text, "verbs://r2.example:7000");
	CT_EXPECT_STREQ(eth0->router[1].text, "verbs://[fe80::2%eth0]:7001");
	CT_EXPECT_STREQ(eth0->uri.text, "verbs://10.3.1.1:7000");
	CT_EXPECT_EQ(eth0->uri.line, 34);
	CT_EXPECT_STREQ(eth0->fabric, "10.3.1.0/24");
	CT_EXPECT_STREQ(eth0->domain, "mlx5_0");
	CT_EXPECT_STREQ(eth0->provider, "verbs");
	CT_EXPECT_FALSE(eth0->transit);
	CT_EXPECT_EQ(eth0->rate, 2500000000);
	CT_EXPECT_EQ(eth0->latency, 2500);
	CT_EXPECT_EQ(eth0->cost, 31250);
	CT_EXPECT_EQ(eth0->caps, RTE_CAP_ZEROCOPY | RTE_CAP_RMA | RTE_CAP_NOTRANSIT);
	CT_EXPECT_EQ(eth0->frag, 1048576);
	CT_EXPECT_EQ(eth0->auth, RTE_AUTH_REQUIRED);
	CT_ASSERT_EQ(eth0->keys, 2);
	CT_EXPECT_STREQ(eth0->key[0].file, "/etc/cairn/a.key");
	CT_EXPECT_EQ(eth0->key[0].id, 7);
	CT_EXPECT_STREQ(eth0->key[1].file, "/etc/cairn/b.key");
	CT_EXPECT_EQ(eth0->key[1].id, 8);
	CT_EXPECT_EQ(eth0->key[1].line, 48);
}

static void expect_router(const struct rte_config_router *router)
{
	CT_EXPECT_EQ(router->line, 11);
	CT_EXPECT_EQ(router->as, 3);
	CT_EXPECT_EQ(router->id, 31);
	CT_EXPECT_STREQ(router->name, "border");
	CT_EXPECT_EQ(router->policy.metrics, 2);
	CT_EXPECT_EQ(router->policy.metric[0], RTE_NATIVE);
	CT_EXPECT_EQ(router->policy.metric[1], RTE_BANDWIDTH);
	CT_EXPECT_TRUE(router->policy.doc_scale);
	CT_ASSERT_EQ(router->routes, 2);
	CT_ASSERT_EQ(router->route[0].subnets, 4);
	CT_EXPECT_EQ(router->route[0].subnet[0].as, 3);
	CT_EXPECT_EQ(router->route[0].subnet[0].subnet, 3);
	CT_EXPECT_EQ(router->route[0].subnet[3].as, RTE_AS_WAN);
	CT_EXPECT_EQ(router->route[0].subnet[3].subnet, 0);
	CT_EXPECT_EQ(router->route[1].subnets, 2);
	CT_EXPECT_EQ(router->route[1].line, 17);
	CT_ASSERT_EQ(router->acls, 2);
	CT_EXPECT_EQ(router->acl[1].line, 19);
	CT_EXPECT_STREQ(router->control, "/run/cairn/border.sock");
	CT_EXPECT_EQ(router->workers, 2);
	CT_EXPECT_EQ(router->connections, 11);
	CT_EXPECT_EQ(router->slots, 12);
	CT_EXPECT_EQ(router->resolves, 13);
	CT_EXPECT_EQ(router->refresh, 3000);
	CT_EXPECT_EQ(router->hold_first, 20);
	CT_EXPECT_EQ(router->hold_last, 2000);
}

CT_TEST(read, a_router_may_say_all)
{
	struct rte_config *config = conf_parse(conf_router_all);

	CT_EXPECT_STREQ(conf_wrong(conf_router_all), "");
	CT_ASSERT_NE(config, NULL);
	CT_EXPECT_TRUE(config->is_router);
	expect_router(&config->router);
	CT_ASSERT_EQ(config->routing.prefixes, 3);
	CT_EXPECT_EQ(config->routing.prefix[0].family, AF_INET);
	CT_EXPECT_EQ(config->routing.prefix[1].bits, 25);
	CT_EXPECT_EQ(config->routing.prefix[1].to.subnet, 3);
	CT_EXPECT_EQ(config->routing.prefix[2].family, AF_INET6);
	CT_EXPECT_EQ(config->routing.prefix[2].line, 5);
	CT_EXPECT_EQ(config->routing.port_first, 7000);
	CT_EXPECT_EQ(config->routing.port_last, 7010);
	CT_EXPECT_EQ(config->routing.heartbeat, 500);
	CT_EXPECT_EQ(config->routing.heartbeat_loss, 4);
	CT_EXPECT_EQ(config->routing.connect_timeout, 2000);
	CT_ASSERT_EQ(config->devices, 2);
	expect_device(&config->device[0]);
	CT_EXPECT_EQ(config->device[1].peer_as, 4);
	CT_EXPECT_EQ(config->device[1].auth, RTE_AUTH_REQUIRED);
	CT_EXPECT_TRUE(config->device[1].transit);
	CT_EXPECT_EQ(config->device[1].rate, 0);
	CT_EXPECT_EQ(config->device[1].uri.text, NULL);
	rte_config_free(config);
}

CT_TEST(read, a_router_has_defaults)
{
	struct rte_config *config = conf_parse("[router]\nid = 4\n"
					       "[a]\ntransport=sock\nas=3\nsubnet=1\n"
					       "[b]\ntransport=sock\nas=3\nsubnet=0\n");

	CT_ASSERT_NE(config, NULL);
	CT_EXPECT_STREQ(config->router.name, "R4");
	CT_EXPECT_STREQ(config->router.control, "/run/cairn/router-4.sock");
	CT_EXPECT_EQ(config->router.policy.metrics, 1);
	CT_EXPECT_EQ(config->router.policy.metric[0], RTE_BANDWIDTH);
	CT_EXPECT_FALSE(config->router.policy.doc_scale);
	CT_EXPECT_EQ(config->router.workers, 0);
	CT_EXPECT_EQ(config->router.connections, 1024);
	CT_EXPECT_EQ(config->router.slots, 256);
	CT_EXPECT_EQ(config->router.resolves, 4096);
	CT_EXPECT_EQ(config->router.refresh, 10000);
	CT_EXPECT_EQ(config->router.hold_first, 50);
	CT_EXPECT_EQ(config->router.hold_last, 1000);
	/* Without router: it waits for others. */
	CT_EXPECT_TRUE(config->device[0].routable);
	CT_EXPECT_TRUE(config->device[1].routable);
	rte_config_free(config);
}

/* White space, comments, ends of lines, a byte order mark, and any order of sections. */
CT_TEST(read, takes_files_as_editors_write_them)
{
	struct rte_config *config = conf_parse("\xef\xbb\xbf; comment\r\n"
					       "  [eth0] ; campus\r\n"
					       "\ttransport=sock ; a comment\r\n"
					       "# as = 9\r\n"
					       "as   =   3\r\n"
					       "\r\n"
					       "  subnet = 1 \t\r\n"
					       "router = sock://h:1");

	CT_ASSERT_NE(config, NULL);
	CT_EXPECT_STREQ(config->device[0].name, "eth0");
	CT_EXPECT_EQ(config->device[0].at.as, 3);
	CT_EXPECT_EQ(config->device[0].at.subnet, 1);
	CT_EXPECT_TRUE(config->device[0].routable);
	rte_config_free(config);
}

CT_TEST(read, an_empty_file_is_a_client_without_devices)
{
	CONF_EXPECT_ERRORS(conf_wrong(""), "f: warning: ");
	CONF_EXPECT_ERRORS(conf_wrong("[routing]\n"), "f: warning: ");
}

CT_TEST(read, a_client_may_have_two_devices_on_a_subnet)
{
	CT_EXPECT_STREQ(
		conf_wrong("[a]\ntransport=sock\nas=3\nsubnet=1\nrouter=sock://h:1\n"
			   "[b]\ntransport=sock\nas=3\nsubnet=1\nrouter=sock://h:1\n"),
		"");
}

CT_TEST(read, the_longest_line_is_read_whole)
{
	char text[512] = "[a]\ntransport = sock\n";
	const char *const line = "fabric = ";
	char *at = text + strlen(text);
	struct rte_config *config;

	strcpy(at, line);
	memset(at + strlen(line), 'x', RTE_CONFIG_LINE_MAX - strlen(line));
	at[RTE_CONFIG_LINE_MAX] = '\n';
	config = conf_parse(text);
	CT_ASSERT_NE(config, NULL);
	CT_EXPECT_EQ(strlen(config->device[0].fabric),
		     RTE_CONFIG_LINE_MAX - strlen(line));
	rte_config_free(config);
	at[RTE_CONFIG_LINE_MAX] = 'x';
	CONF_EXPECT_ERRORS(conf_wrong(text), "f:3: 198");
	/* Without what is around it. */
	at[RTE_CONFIG_LINE_MAX] = ' ';
	config = conf_parse(text);
	CT_EXPECT_NE(config, NULL);
	rte_config_free(config);
}

#define TWO_DEVICES                                   \
	"[a]\ntransport = sock\nas = 3\nsubnet = 1\n" \
	"[b]\ntransport = sock\nas = 3\nsubnet = 2\n"

CT_TEST(read, a_control_path_is_as_long_as_a_socket_may_have)
{
	char text[400], path[108];

	memset(path, 'r', sizeof(path));
	path[0] = '/';
	path[107] = '\0';
	snprintf(text, sizeof(text), "[router]\nid = 1\ncontrol = %s\n%s", path,
		 TWO_DEVICES);
	CT_EXPECT_STREQ(conf_wrong(text), "");
}

/* So many lines as a list may have, and one more. The value has the line's number. */
static void expect_limit(const char *name, const char *head, const char *before,
			 const char *behind, uint32_t most, const char *tail)
{
	char *text = malloc(RTE_CONFIG_FILE_MAX), *at, wanted[100];
	uint32_t i, extra, line = 1;

	for (i = 0; head[i]; i++)
		line += head[i] == '\n';
	snprintf(wanted, sizeof(wanted), "f:%u: %u %s", line + most, most, name);
	for (extra = 0; extra < 2; extra++) {
		CT_NOTE("%s", name);
		at = stpcpy(text, head);
		for (i = 0; i < most + extra; i++)
			at += sprintf(at, "%s = %s%x%s\n", name, before, i, behind);
		strcpy(at, tail);
		CONF_EXPECT_ERRORS(conf_wrong(text), extra ? wanted : "");
	}
	free(text);
}

CT_TEST(read, lists_are_bounded)
{
	static const char router[] = "[router]\nid = 1\n";

	expect_limit("prefix", "[router]\nid = 1\n[routing]\n", "fd00:", "::/32 -> 3:2",
		     RTE_CONFIG_PREFIXES_MAX, TWO_DEVICES);
	expect_limit("static", router, "1,2 ;", "", RTE_CONFIG_STATICS_MAX, TWO_DEVICES);
	expect_limit("acl", router, "* -> * ;", "", RTE_CONFIG_ACLS_MAX, TWO_DEVICES);
	expect_limit("router", "[router]\nid = 1\n" TWO_DEVICES, "sock://h", ":7000",
		     RTE_CONFIG_ROUTERS_MAX, "");
}

CT_TEST(read, a_static_route_is_bounded)
{
	char text[1000], *at = text + sprintf(text, "[router]\nid = 1\nstatic = 1");

	for (uint32_t i = 2; i <= RTE_CONFIG_STATIC_MAX; i++)
		at += sprintf(at, ",%u", i);
	strcpy(at, "\n" TWO_DEVICES);
	CT_EXPECT_STREQ(conf_wrong(text), "");
	strcpy(at, ",0\n" TWO_DEVICES);
	CONF_EXPECT_ERRORS(conf_wrong(text), "f:3: static 65");
}

CT_TEST(read, a_file_is_bounded)
{
	const size_t len = RTE_CONFIG_FILE_MAX + 1;
	struct rte_config_errors errors = {0};
	char *text = malloc(len);
	struct rte_config *config;

	memset(text, '\n', len);
	CT_EXPECT_EQ(rte_config_parse(text, len - 1, "f", &config, &errors), 0);
	rte_config_free(config);
	memset(&errors, 0, sizeof(errors));
	CT_EXPECT_EQ(rte_config_parse(text, len, "f", &config, &errors), -FI_EINVAL);
	CT_EXPECT_EQ(config, NULL);
	CONF_EXPECT_ERRORS(conf_errors(&errors), "f: 1048576");
	free(text);
}

CT_TEST(read, takes_a_file_and_says_why_it_cannot)
{
	char path[] = "route_config.XXXXXX", wanted[200];
	struct rte_config_errors errors = {0};
	const int fd = mkstemp(path);
	struct rte_config *config;

	CT_ASSERT_GE(fd, 0);
	CT_EXPECT_EQ(write(fd, conf_router_all, strlen(conf_router_all)),
		     (ssize_t)strlen(conf_router_all));
	close(fd);
	CT_EXPECT_EQ(rte_config_read(path, &config, &errors), 0);
	CT_EXPECT_NE(config, NULL);
	if (config)
		CT_EXPECT_STREQ(config->file, path);
	rte_config_free(config);
	unlink(path);
	CT_EXPECT_EQ(rte_config_read(path, &config, &errors), -FI_EINVAL);
	CT_EXPECT_EQ(config, NULL);
	snprintf(wanted, sizeof(wanted), "%s: %s", path, strerror(ENOENT));
	CONF_EXPECT_ERRORS(conf_errors(&errors), wanted);
	memset(&errors, 0, sizeof(errors));
	CT_EXPECT_EQ(rte_config_read("/", &config, &errors), -FI_EINVAL);
	snprintf(wanted, sizeof(wanted), "/: %s", strerror(EISDIR));
	CONF_EXPECT_ERRORS(conf_errors(&errors), wanted);
}

/* Errors of two files stand in one list; a right file after a wrong one is right. */
CT_TEST(read, adds_to_the_errors_that_are_there)
{
	struct rte_config_errors errors = {0};
	struct rte_config *config;

	CT_EXPECT_EQ(rte_config_parse("x", 1, "f", &config, &errors), -FI_EINVAL);
	CT_EXPECT_EQ(rte_config_parse(conf_router_all, strlen(conf_router_all), "g",
				      &config, &errors),
		     0);
	rte_config_free(config);
	CT_EXPECT_EQ(rte_config_parse("y", 1, "h", &config, &errors), -FI_EINVAL);
	CT_EXPECT_EQ(errors.errors, 2);
	CONF_EXPECT_ERRORS(conf_errors(&errors), "f:1: \nh:1: ");
}

CT_TEST(read, of_a_long_file_name_the_end_is_told)
{
	struct rte_config_errors errors = {0};
	struct rte_config *config;
	char name[300];

	memset(name, 'a', sizeof(name));
	strcpy(name + sizeof(name) - 6, ".conf");
	CT_EXPECT_EQ(rte_config_parse("x", 1, name, &config, &errors), -FI_EINVAL);
	CT_EXPECT_EQ(strlen(errors.error[0].file), sizeof(errors.error[0].file) - 1);
	CT_EXPECT_STRSTR(errors.error[0].file, "aaaa.conf");
}
