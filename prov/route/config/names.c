/* SPDX-License-Identifier: BSD-2-Clause */
#include <netdb.h>
#include <string.h>
#include <strings.h>
#include <arpa/inet.h>
#include <cairn/addr.h>
#include "errors.h"

static bool host_has_name(const struct hostent *host, const char *name)
{
	char **alias = host->h_aliases;

	if (!strcasecmp(host->h_name, name))
		return true;
	while (*alias && strcasecmp(*alias, name))
		alias++;
	return *alias;
}

/*
 * The first IPv4 address of a name in /etc/hosts, which comes before DNS nearly
 * everywhere. Nothing is asked over the network, so nothing waits.
 */
static bool host_find(const char *name, union crn_addr *addr)
{
	const struct hostent *host;

	memset(addr, 0, sizeof(*addr));
	sethostent(1);
	do
		host = gethostent();
	while (host && (host->h_addrtype != AF_INET || !host_has_name(host, name)));
	if (host) {
		addr->in.sin_family = AF_INET;
		memcpy(&addr->in.sin_addr, host->h_addr_list[0],
		       sizeof(addr->in.sin_addr));
	}
	endhostent();
	return host;
}

static void check_name(const struct rte_config *config, const struct rte_config_uri *uri,
		       struct rte_config_errors *errors)
{
	char text[INET_ADDRSTRLEN];
	union crn_addr addr;

	if (!uri->text || uri->uri.kind != RTE_HOST_NAME ||
	    !strcmp(uri->uri.host, "localhost") || !host_find(uri->uri.host, &addr) ||
	    !crn_addr_is_loopback(&addr.sa))
		return;
	inet_ntop(AF_INET, &addr.in.sin_addr, text, sizeof(text));
	rte_warning(errors, config->file, uri->line, "name an address of its network",
		    "uri = %.60s is %s in /etc/hosts, which no other host can reach",
		    uri->text, text);
}

void rte_config_check_names(const struct rte_config *config,
			    struct rte_config_errors *errors)
{
	uint32_t i;

	for (i = 0; i < config->devices; i++)
		check_name(config, &config->device[i].uri, errors);
}
