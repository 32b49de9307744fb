/* SPDX-License-Identifier: BSD-2-Clause */
/* Subnet management of a port (IBA 14.2): what can be asked, nothing can be set. */
#include <string.h>
#include "parts.h"
#include "verbs/verbs.h"

static const struct svb_device_settings *svb_smp_device(const struct svb_port *port)
{
	return &svb_self.settings.device[port->index / SVB_MAX_PORTS];
}

static void svb_fill_guid(uint8_t *at, const struct svb_port *port)
{
	memcpy(at, port->gid[port->own_gid].raw + 8, 8);
}

/* 14.2.5.3 */
void svb_fill_node_info(uint8_t *at, const struct svb_port *port)
{
	const struct svb_device_settings *device = svb_smp_device(port);

	at[0] = at[1] = 1; /* versions */
	at[2] = 1;	   /* a channel adapter */
	at[3] = (uint8_t)device->ports;
	svb_mad_put(at, 4, 8, device->guid);
	svb_mad_put(at, 12, 8, device->guid);
	svb_fill_guid(at + 20, port);
	svb_mad_put(at, 28, 2, SVB_MAX_PKEYS);
	svb_mad_put(at, 30, 2, 1); /* DeviceID */
	at[36] = (uint8_t)(port->index % SVB_MAX_PORTS + 1);
}

/* 14.2.5.2 */
void svb_fill_node_description(uint8_t *at, const struct svb_port *port)
{
	memcpy(at, svb_smp_device(port)->name, strnlen(svb_smp_device(port)->name, 63));
}

/* 14.2.5.6 */
void svb_fill_port_info(uint8_t *at, const struct svb_port *port)
{
	const uint8_t mtu = (uint8_t)svb_self.settings.mtu;
	const bool down = svb_port_down(port->index);

	svb_mad_put(at, 8, 8, 0xfe80ull << 48);
	svb_mad_put(at, 16, 2, port->lid);
	svb_mad_put(at, 18, 2, SVB_SM_LID);
	/* IsSM where it is, and IsCommunicationManagementSupported. */
	svb_mad_put(at, 20, 4, SVB_BIT(16) | (port->lid == SVB_SM_LID ? SVB_BIT(1) : 0));
	at[28] = (uint8_t)(port->index % SVB_MAX_PORTS + 1);
	at[29] = at[30] = 3; /* 1X and 4X */
	at[31] = 2;	     /* 4X */
	/* Up to 10 Gb/s a lane, down or active; polling or LinkUp, polling by default. */
	at[32] = (uint8_t)(7 << 4 | (down ? 1 : 4));
	at[33] = (uint8_t)((down ? 2 : 5) << 4 | 2);
	at[35] = 4 << 4 | 7;
	at[36] = (uint8_t)(mtu << 4);
	at[37] = 1 << 4; /* one data VL */
	at[41] = mtu;
	at[43] = 1 << 4;
	at[50] = 1;  /* GUIDs */
	at[51] = 18; /* SubnetTimeOut */
	at[52] = 16; /* RespTimeValue */
}

/* 14.2.5.7 */
void svb_fill_pkeys(uint8_t *at, const struct svb_port *port)
{
	uint32_t i;

	for (i = 0; i < port->pkeys; i++)
		svb_mad_put(at, 2ul * i, 2, port->pkey[i]);
}

/* 14.2.5.13 */
void svb_fill_sm_info(uint8_t *at)
{
	const struct svb_port *port = svb_port_by_index(SVB_SM_LID - 1);

	if (port)
		svb_fill_guid(at, port);
	svb_mad_put(at, 16, 4, svb_subnet_acts()); /* ActCount */
	at[20] = 3;				   /* priority 0, master */
}

static bool svb_smp_fill(uint8_t *mad, const struct svb_port *port)
{
	uint8_t *data = mad + SVB_SMP_DATA;

	memset(data, 0, 64);
	switch (svb_mad_get(mad, SVB_MAD_ATTR, 2)) {
	case SVB_ATTR_NODE_DESCRIPTION:
		svb_fill_node_description(data, port);
		return true;
	case SVB_ATTR_NODE:
		svb_fill_node_info(data, port);
		return true;
	case SVB_ATTR_PORT_INFO:
		svb_fill_port_info(data, port);
		return true;
	case SVB_ATTR_PKEYS:
		/* Blocks of 32; there is one. */
		if (!(svb_mad_get(mad, SVB_MAD_MOD, 4) & 0xffff))
			svb_fill_pkeys(data, port);
		return true;
	case SVB_ATTR_SM_INFO:
		if (port->lid != SVB_SM_LID)
			return false;
		svb_fill_sm_info(data);
		return true;
	default:
		return false;
	}
}

bool svb_smp_answer(const struct svb_port *port, uint16_t lid, uint8_t mad[SVB_MAD_SIZE])
{
	const bool directed = mad[SVB_MAD_CLASS] == SVB_CLASS_SMP_DIRECTED;
	uint32_t status = 0;

	if (mad[SVB_MAD_METHOD] & SVB_METHOD_RESPONSE)
		return false;
	/* No switch: a route of no hops is all there is. */
	if (directed && mad[SVB_MAD_HOPS])
		return false;
	if (!directed && lid)
		port = svb_port_by_index(lid - 1u);
	if (!port)
		return false;
	if (mad[SVB_MAD_METHOD] != SVB_METHOD_GET || !svb_smp_fill(mad, port))
		status = SVB_MAD_BAD_METHOD_ATTR;
	mad[SVB_MAD_METHOD] = SVB_METHOD_GET | SVB_METHOD_RESPONSE;
	/* 14.2.1.2: the direction bit of what comes back. */
	svb_mad_put(mad, SVB_MAD_STATUS, 2, status | (directed ? 0x8000 : 0));
	return true;
}
