/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports that have no IP address, InfiniBand without IPoIB: datagrams need a GID alone. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "dgram.h"
#include "internal.h"

static bool port_is_listed(const struct pvb_device_addr *list, size_t count,
			   const char *device, uint8_t port)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (list[i].port == port && !strcmp(list[i].device, device))
			return true;
	}
	return false;
}

/* The entry of a port: 0, or why datagrams cannot leave from there. */
static int port_entry(struct ibv_context *verbs, uint8_t port,
		      const struct ibv_device_attr *attr, struct pvb_device_addr *out)
{
	static const struct pvb_ud_addr any;
	struct pvb_ud_path path;
	union ibv_gid gid;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = pvb_ud_path_port(verbs, port, &any, &path);
	if (!ret)
		ret = -ibv_query_port(verbs, port, &out->port_attr);
	if (ret)
		return ret;
	strncpy(out->device, ibv_get_device_name(verbs->device), sizeof(out->device) - 1);
	out->port = port;
	out->attr = *attr;
	out->quirks = pvb_device_quirks(verbs);
	out->pkey = path.addr.pkey;
	memcpy(out->gid, path.addr.gid, sizeof(out->gid));
	if (!ibv_query_gid(verbs, port, 0, &gid))
		out->subnet_prefix = be64toh(gid.global.subnet_prefix);
	return 0;
}

static int port_add_device(struct ibv_context *verbs, struct pvb_device_addr **list,
			   size_t *count)
{
	const char *name = ibv_get_device_name(verbs->device);
	struct pvb_device_addr *longer;
	struct ibv_device_attr attr;
	int port; /* a device may have 255 */
	int ret = -ibv_query_device(verbs, &attr);

	if (ret)
		return ret;
	longer = realloc(*list, (*count + attr.phys_port_cnt) * sizeof(*longer));
	if (!longer)
		return -FI_ENOMEM;
	*list = longer;
	for (port = 1; port <= attr.phys_port_cnt; port++) {
		if (port_is_listed(longer, *count, name, (uint8_t)port))
			continue;
		ret = port_entry(verbs, (uint8_t)port, &attr, &longer[*count]);
		if (pvb_is_shortage(ret))
			return ret;
		*count += !ret;
	}
	return 0;
}

static int port_open_device(struct ibv_device *device, struct pvb_device_addr **list,
			    size_t *count)
{
	struct ibv_context *verbs;
	int ret;

	if (device->transport_type == IBV_TRANSPORT_IWARP ||
	    !pvb_device_wanted(ibv_get_device_name(device)))
		return 0;
	verbs = ibv_open_device(device);
	if (!verbs)
		return pvb_errno();
	ret = port_add_device(verbs, list, count);
	ibv_close_device(verbs);
	return ret;
}

int pvb_ud_add_ports(struct pvb_device_addr **list, size_t *count)
{
	struct ibv_device **devices;
	int i, found, ret = 0;

	devices = ibv_get_device_list(&found);
	if (!devices) {
		ret = pvb_errno();
		return pvb_is_shortage(ret) ? ret : 0;
	}
	for (i = 0; i < found && !pvb_is_shortage(ret); i++) {
		ret = port_open_device(devices[i], list, count);
		if (ret)
			PVB_INFO(FI_LOG_FABRIC, "%s: no ports for datagrams: %s\n",
				 ibv_get_device_name(devices[i]), fi_strerror(-ret));
	}
	ibv_free_device_list(devices);
	return pvb_is_shortage(ret) ? ret : 0;
}
