/* SPDX-License-Identifier: BSD-2-Clause */
/* The devices and their ports, as libibumad reads them below /sys. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "umad.h"

const struct svb_port *svb_umad_find(const char *ca, int number)
{
	const struct svb_device_settings *device;
	uint32_t i;

	for (i = 0; i < svb_self.settings.devices; i++) {
		device = &svb_self.settings.device[i];
		if ((ca && strcmp(ca, device->name)) || number < 0 ||
		    (uint32_t)number > device->ports)
			continue;
		return &device->port[number ? number - 1 : 0];
	}
	return NULL;
}

static const struct svb_device_settings *svb_umad_device(const struct svb_port *port)
{
	return &svb_self.settings.device[port->index / SVB_MAX_PORTS];
}

static __be64 svb_umad_guid(const struct svb_port *port)
{
	__be64 guid;

	memcpy(&guid, port->gid[port->own_gid].raw + 8, sizeof(guid));
	return guid;
}

SVB_API int umad_init(void)
{
	return svb_join() ? -1 : 0;
}

SVB_API int umad_done(void)
{
	return 0;
}

SVB_API int umad_get_cas_names(char cas[][UMAD_CA_NAME_LEN], int max)
{
	int i;

	if (svb_join())
		return -1;
	for (i = 0; i < max && (uint32_t)i < svb_self.settings.devices; i++)
		snprintf(cas[i], UMAD_CA_NAME_LEN, "%.19s",
			 svb_self.settings.device[i].name);
	return i;
}

/* Place 0 is a switch's management port, which nobody has here. */
SVB_API int umad_get_ca_portguids(const char *ca_name, __be64 *portguids, int max)
{
	const struct svb_port *port = svb_join() ? NULL : svb_umad_find(ca_name, 0);
	const struct svb_device_settings *device;
	int i;

	if (!port)
		return -ENODEV;
	device = svb_umad_device(port);
	if (!portguids)
		return (int)device->ports + 1;
	if (max < (int)device->ports + 1)
		return -ENOMEM;
	portguids[0] = 0;
	for (i = 0; i < (int)device->ports; i++)
		portguids[i + 1] = svb_umad_guid(&device->port[i]);
	return i + 1;
}

static int svb_umad_port_fill(const struct svb_port *port, umad_port_t *to)
{
	const bool ib = svb_self.settings.link == SVB_LINK_IB;
	const bool down = svb_port_down(port->index);
	uint32_t i;

	memset(to, 0, sizeof(*to));
	snprintf(to->ca_name, sizeof(to->ca_name), "%.19s", svb_umad_device(port)->name);
	to->portnum = (int)(port->index % SVB_MAX_PORTS + 1);
	to->base_lid = port->lid;
	to->sm_lid = ib ? SVB_SM_LID : 0;
	to->state = down ? 1 : 4;      /* down, active */
	to->phys_state = down ? 2 : 5; /* polling, LinkUp */
	to->rate = 100;
	to->capmask = htobe32(0x10000);
	memcpy(&to->gid_prefix, port->gid[port->own_gid].raw, sizeof(to->gid_prefix));
	to->port_guid = svb_umad_guid(port);
	snprintf(to->link_layer, sizeof(to->link_layer), "%s",
		 ib ? "InfiniBand" : "Ethernet");
	to->pkeys = calloc(port->pkeys, sizeof(*to->pkeys));
	if (!to->pkeys)
		return -ENOMEM;
	for (i = 0; i < port->pkeys; i++)
		to->pkeys[i] = port->pkey[i];
	to->pkeys_size = port->pkeys;
	return 0;
}

SVB_API int umad_get_port(const char *ca_name, int portnum, umad_port_t *port)
{
	const struct svb_port *found =
		svb_join() ? NULL : svb_umad_find(ca_name, portnum);

	return found ? svb_umad_port_fill(found, port) : -ENODEV;
}

SVB_API int umad_release_port(umad_port_t *port)
{
	free(port->pkeys);
	port->pkeys = NULL;
	port->pkeys_size = 0;
	return 0;
}

SVB_API int umad_release_ca(umad_ca_t *ca)
{
	int i;

	for (i = 0; i < UMAD_CA_MAX_PORTS; i++) {
		if (!ca->ports[i])
			continue;
		umad_release_port(ca->ports[i]);
		free(ca->ports[i]);
		ca->ports[i] = NULL;
	}
	return 0;
}

static int svb_umad_ca_ports(const struct svb_device_settings *device, umad_ca_t *ca)
{
	uint32_t i;

	for (i = 0; i < device->ports; i++) {
		ca->ports[i + 1] = calloc(1, sizeof(umad_port_t));
		if (!ca->ports[i + 1] ||
		    svb_umad_port_fill(&device->port[i], ca->ports[i + 1])) {
			umad_release_ca(ca);
			return -ENOMEM;
		}
	}
	return 0;
}

SVB_API int umad_get_ca(const char *ca_name, umad_ca_t *ca)
{
	const struct svb_port *port = svb_join() ? NULL : svb_umad_find(ca_name, 0);
	const struct svb_device_settings *device;

	if (!port)
		return -ENODEV;
	device = svb_umad_device(port);
	memset(ca, 0, sizeof(*ca));
	snprintf(ca->ca_name, sizeof(ca->ca_name), "%.19s", device->name);
	ca->node_type = 1; /* a channel adapter */
	ca->numports = (int)device->ports;
	snprintf(ca->fw_ver, sizeof(ca->fw_ver), "simverbs");
	snprintf(ca->ca_type, sizeof(ca->ca_type), "simverbs");
	snprintf(ca->hw_ver, sizeof(ca->hw_ver), "0");
	ca->node_guid = ca->system_guid = htobe64(device->guid);
	return svb_umad_ca_ports(device, ca);
}

SVB_API struct umad_device_node *umad_get_ca_device_list(void)
{
	struct umad_device_node *head = NULL, *node;
	uint32_t i;

	if (svb_join())
		return NULL;
	for (i = svb_self.settings.devices; i--;) {
		node = calloc(1, sizeof(*node));
		if (!node)
			break;
		node->ca_name = strdup(svb_self.settings.device[i].name);
		node->next = head;
		head = node;
	}
	return head;
}

SVB_API void umad_free_ca_device_list(struct umad_device_node *head)
{
	struct umad_device_node *next;

	for (; head; head = next) {
		next = head->next;
		free((void *)(uintptr_t)head->ca_name);
		free(head);
	}
}

/* The manager is nobody's program: there is no file that lets one be it. */
SVB_API int umad_get_issm_path(const char *ca_name, int portnum, char path[], int max)
{
	(void)ca_name;
	(void)portnum;
	if (max > 0)
		path[0] = '\0';
	return -ENODEV;
}
