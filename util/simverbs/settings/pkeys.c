/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pkeys.h"

bool svb_pkey_parse(const char *text, uint16_t *pkey)
{
	char *end;
	unsigned long value = strtoul(text, &end, 16);

	*pkey = (uint16_t)value;
	return end != text && !*end && value <= 0xffff && value & SVB_PKEY_BASE;
}

static bool svb_pkey_add(struct svb_port *port, const char *word)
{
	return port->pkeys < SVB_MAX_PKEYS &&
	       svb_pkey_parse(word, &port->pkey[port->pkeys++]);
}

int svb_pkeys_load(struct svb_device_settings *device, uint32_t index, enum svb_link link)
{
	char text[sizeof(device->pkeys)], *word, *save;
	struct svb_port *port = &device->port[0];
	uint32_t i;

	strcpy(text, link == SVB_LINK_IB ? device->pkeys : "0xffff");
	for (word = strtok_r(text, " ,", &save); word; word = strtok_r(NULL, " ,", &save))
		if (!svb_pkey_add(port, word)) {
			fprintf(stderr,
				"simverbs: [sim%u] pkeys: %s is none, or one too many\n",
				index, word);
			return EINVAL;
		}
	if (!port->pkeys) {
		fprintf(stderr, "simverbs: [sim%u] pkeys: a port has one at least\n",
			index);
		return EINVAL;
	}
	for (i = 1; i < device->ports; i++) {
		device->port[i].pkeys = port->pkeys;
		memcpy(device->port[i].pkey, port->pkey, sizeof(port->pkey));
	}
	return 0;
}

int svb_pkey_index(const struct svb_port *port, uint16_t pkey)
{
	int limited = -1;
	uint32_t i;

	for (i = 0; i < port->pkeys; i++) {
		if ((port->pkey[i] ^ pkey) & SVB_PKEY_BASE)
			continue;
		if (port->pkey[i] & SVB_PKEY_FULL)
			return (int)i;
		if (limited < 0)
			limited = (int)i;
	}
	return limited;
}
