/* SPDX-License-Identifier: BSD-2-Clause */
/* info->nic: what verbs and sysfs say of the device and port behind an address. */
#include <arpa/inet.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cairn/nic.h>
#include "device.h"

/* Gb/s of a lane, by ibv_port_attr.active_speed (IB specification 1.7, table 143). */
static double pvb_lane_speed(uint8_t code)
{
	switch (code) {
	case 1:
		return 2.5;
	case 2:
		return 5;
	case 4:
	case 8:
		return 10;
	case 16:
		return 14.0625;
	case 32:
		return 25.78125;
	case 64:
		return 50;
	case 128:
		return 100;
	default:
		return 0;
	}
}

static int pvb_lanes(uint8_t code)
{
	switch (code) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 0;
	}
}

static size_t pvb_port_mtu(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? (size_t)128 << mtu : 0;
}

/* The last part of what a link below the device's sysfs folder points to; false: no such
 * link. */
static bool pvb_sysfs_link(const char *device, const char *name, char *out, size_t len)
{
	char path[PATH_MAX], target[PATH_MAX];
	ssize_t got;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/%s", device, name);
	got = readlink(path, target, sizeof(target) - 1);
	if (got <= 0)
		return false;
	target[got] = '\0';
	snprintf(out, len, "%s", basename(target));
	return true;
}

static void pvb_nic_bus(struct fi_bus_attr *bus, const char *device)
{
	unsigned int domain, number, slot, function;
	char text[64];

	if (!pvb_sysfs_link(device, "device", text, sizeof(text)) ||
	    sscanf(text, "%x:%x:%x.%x", &domain, &number, &slot, &function) != 4)
		return;
	bus->bus_type = FI_BUS_PCI;
	bus->attr.pci.domain_id = (uint16_t)domain;
	bus->attr.pci.bus_id = (uint8_t)number;
	bus->attr.pci.device_id = (uint8_t)slot;
	bus->attr.pci.function_id = (uint8_t)function;
}

static int pvb_nic_device(struct fi_device_attr *attr,
			  const struct pvb_device_addr *entry)
{
	char text[64];

	attr->name = strdup(entry->device);
	snprintf(text, sizeof(text), "0x%04x", entry->attr.vendor_part_id);
	attr->device_id = strdup(text);
	snprintf(text, sizeof(text), "%u", entry->attr.hw_ver);
	attr->device_version = strdup(text);
	snprintf(text, sizeof(text), "0x%04x", entry->attr.vendor_id);
	attr->vendor_id = strdup(text);
	attr->firmware = strdup(entry->attr.fw_ver);
	if (pvb_sysfs_link(entry->device, "device/driver", text, sizeof(text)))
		attr->driver = strdup(text);
	return attr->name && attr->device_id && attr->device_version && attr->vendor_id &&
			       attr->firmware
		       ? 0
		       : -FI_ENOMEM;
}

/* The IP address, or the GID of a port that has none: a string to be freed, or NULL. */
static char *pvb_nic_address(const struct pvb_device_addr *entry)
{
	char text[CRN_ADDR_STRLEN], gid[INET6_ADDRSTRLEN];

	if (entry->addr.sa.sa_family)
		return strdup(crn_addr_str(&entry->addr.sa, text));
	return strdup(inet_ntop(AF_INET6, entry->gid, gid, sizeof(gid)));
}

static int pvb_nic_link(struct fi_link_attr *link, const struct pvb_device_addr *entry)
{
	const struct ibv_port_attr *port = &entry->port_attr;

	link->address = pvb_nic_address(entry);
	link->mtu = pvb_port_mtu(port->active_mtu);
	link->speed = (size_t)(pvb_lane_speed(port->active_speed) *
			       pvb_lanes(port->active_width) * 1e9);
	link->state = port->state == IBV_PORT_ACTIVE ? FI_LINK_UP : FI_LINK_DOWN;
	link->network_type =
		strdup(port->link_layer == IBV_LINK_LAYER_ETHERNET || entry->iwarp
			       ? "Ethernet"
			       : "InfiniBand");
	return link->address && link->network_type ? 0 : -FI_ENOMEM;
}

struct fid_nic *pvb_nic(const struct pvb_device_addr *entry)
{
	struct fid_nic *nic = crn_nic_new();

	if (!nic)
		return NULL;
	pvb_nic_bus(nic->bus_attr, entry->device);
	if (pvb_nic_device(nic->device_attr, entry) ||
	    pvb_nic_link(nic->link_attr, entry)) {
		fi_close(&nic->fid);
		return NULL;
	}
	return nic;
}
