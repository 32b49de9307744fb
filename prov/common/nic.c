/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/nic.h>
#include <cairn/nosys.h>

/* One allocation holds all but the strings. */
struct crn_nic {
	struct fid_nic fid;
	struct fi_device_attr device;
	struct fi_bus_attr bus;
	struct fi_link_attr link;
};

/* The strings, for whatever has to be done to each. */
static const size_t crn_nic_strings[] = {
	offsetof(struct crn_nic, device.name),
	offsetof(struct crn_nic, device.device_id),
	offsetof(struct crn_nic, device.device_version),
	offsetof(struct crn_nic, device.vendor_id),
	offsetof(struct crn_nic, device.driver),
	offsetof(struct crn_nic, device.firmware),
	offsetof(struct crn_nic, link.address),
	offsetof(struct crn_nic, link.network_type),
};

static char **crn_nic_string(struct crn_nic *nic, size_t i)
{
	return (char **)((char *)nic + crn_nic_strings[i]);
}

static int crn_nic_close(struct fid *fid)
{
	struct crn_nic *nic = crn_container_of(fid, struct crn_nic, fid.fid);
	size_t i;

	for (i = 0; i < CRN_COUNT(crn_nic_strings); i++)
		free(*crn_nic_string(nic, i));
	free(nic);
	return 0;
}

static int crn_nic_dup(struct crn_nic *nic, struct fid_nic **out)
{
	struct fid_nic *copy = crn_nic_new();
	struct crn_nic *to;
	char **from;
	size_t i;

	if (!copy)
		return -FI_ENOMEM;
	to = crn_container_of(copy, struct crn_nic, fid);
	to->bus = nic->bus;
	to->link.mtu = nic->link.mtu;
	to->link.speed = nic->link.speed;
	to->link.state = nic->link.state;
	for (i = 0; i < CRN_COUNT(crn_nic_strings); i++) {
		from = crn_nic_string(nic, i);
		if (*from && !(*crn_nic_string(to, i) = strdup(*from))) {
			crn_nic_close(&copy->fid);
			return -FI_ENOMEM;
		}
	}
	*out = copy;
	return 0;
}

static int crn_nic_control(struct fid *fid, int command, void *arg)
{
	if (command != FI_DUP)
		return -FI_ENOSYS;
	return crn_nic_dup(crn_container_of(fid, struct crn_nic, fid.fid), arg);
}

static const char *crn_or_null(const char *text)
{
	return text ? text : "(null)";
}

/* The form in which libfabric prints its own. */
static int crn_nic_tostr(const struct fid *fid, char *buf, size_t len)
{
	static const char *const states[] = {"FI_LINK_UNKNOWN", "FI_LINK_DOWN",
					     "FI_LINK_UP"};
	const struct crn_nic *nic = crn_container_of(fid, const struct crn_nic, fid.fid);
	const struct fi_pci_attr *pci = &nic->bus.attr.pci;
	const char *state = (size_t)nic->link.state < CRN_COUNT(states)
				    ? states[nic->link.state]
				    : "?";

	snprintf(buf, len,
		 "nic:\n"
		 "    fi_device_attr:\n"
		 "        name: %s\n        device_id: %s\n        device_version: %s\n"
		 "        vendor_id: %s\n        driver: %s\n        firmware: %s\n"
		 "    fi_bus_attr:\n        bus_type: %s\n",
		 crn_or_null(nic->device.name), crn_or_null(nic->device.device_id),
		 crn_or_null(nic->device.device_version),
		 crn_or_null(nic->device.vendor_id), crn_or_null(nic->device.driver),
		 crn_or_null(nic->device.firmware),
		 nic->bus.bus_type == FI_BUS_PCI ? "FI_BUS_PCI" : "FI_BUS_UNKNOWN");
	if (nic->bus.bus_type == FI_BUS_PCI && strlen(buf) < len)
		snprintf(buf + strlen(buf), len - strlen(buf),
			 "        fi_pci_attr:\n"
			 "            domain_id: %u\n            bus_id: %u\n"
			 "            device_id: %u\n            function_id: %u\n",
			 pci->domain_id, pci->bus_id, pci->device_id, pci->function_id);
	if (strlen(buf) < len)
		snprintf(buf + strlen(buf), len - strlen(buf),
			 "    fi_link_attr:\n"
			 "        address: %s\n        mtu: %zu\n        speed: %zu\n"
			 "        state: %s\n        network_type: %s\n",
			 crn_or_null(nic->link.address), nic->link.mtu, nic->link.speed,
			 state, crn_or_null(nic->link.network_type));
	return 0;
}

static struct fi_ops crn_nic_ops = {
	.size = sizeof(struct fi_ops),
	.close = crn_nic_close,
	.bind = crn_nosys_bind,
	.control = crn_nic_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nic_tostr,
	.ops_set = crn_nosys_ops_set,
};

struct fid_nic *crn_nic_new(void)
{
	struct crn_nic *nic = calloc(1, sizeof(*nic));

	if (!nic)
		return NULL;
	nic->fid.fid.fclass = FI_CLASS_NIC;
	nic->fid.fid.ops = &crn_nic_ops;
	nic->fid.device_attr = &nic->device;
	nic->fid.bus_attr = &nic->bus;
	nic->fid.link_attr = &nic->link;
	return &nic->fid;
}
