/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/nic.h>
#include <cairn/nosys.h>

/*
 * libfabric copies a provider's nic part by part, each part with its own malloc, and
 * keeps our operations in the copy (fi_dupinfo): so every part is an allocation, and no
 * more than struct fid_nic is known here.
 */

/* The strings of a nic, for whatever has to be done to each. */
static size_t crn_nic_strings(struct fid_nic *nic, char **strings[8])
{
	size_t n = 0;

	if (nic->device_attr) {
		strings[n++] = &nic->device_attr->name;
		strings[n++] = &nic->device_attr->device_id;
		strings[n++] = &nic->device_attr->device_version;
		strings[n++] = &nic->device_attr->vendor_id;
		strings[n++] = &nic->device_attr->driver;
		strings[n++] = &nic->device_attr->firmware;
	}
	if (nic->link_attr) {
		strings[n++] = &nic->link_attr->address;
		strings[n++] = &nic->link_attr->network_type;
	}
	return n;
}

static int crn_nic_close(struct fid *fid)
{
	struct fid_nic *nic = crn_container_of(fid, struct fid_nic, fid);
	char **strings[8];
	size_t n = crn_nic_strings(nic, strings);

	while (n)
		free(*strings[--n]);
	free(nic->device_attr);
	free(nic->bus_attr);
	free(nic->link_attr);
	free(nic);
	return 0;
}

static int crn_nic_dup(struct fid_nic *nic, struct fid_nic **out)
{
	struct fid_nic *copy = crn_nic_new();
	char **from[8], **to[8];
	size_t i, n;

	/* fi_dupinfo leaves the original in *out, and frees what it finds there on
	 * failure. */
	*out = NULL;
	if (!copy)
		return -FI_ENOMEM;
	*copy->bus_attr = *nic->bus_attr;
	copy->link_attr->mtu = nic->link_attr->mtu;
	copy->link_attr->speed = nic->link_attr->speed;
	copy->link_attr->state = nic->link_attr->state;
	n = crn_nic_strings(nic, from);
	crn_nic_strings(copy, to);
	for (i = 0; i < n; i++) {
		if (*from[i] && !(*to[i] = strdup(*from[i]))) {
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
	return crn_nic_dup(crn_container_of(fid, struct fid_nic, fid), arg);
}

static const char *crn_or_null(const char *text)
{
	return text ? text : "(null)";
}

/* Appends, as libfabric's own do: buf holds a string already. */
static void crn_append(char *buf, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void crn_append(char *buf, size_t len, const char *fmt, ...)
{
	size_t used = strnlen(buf, len);
	va_list args;

	if (used >= len)
		return;
	va_start(args, fmt);
	vsnprintf(buf + used, len - used, fmt, args);
	va_end(args);
}

/* The form in which libfabric prints its own. */
static int crn_nic_tostr(const struct fid *fid, char *buf, size_t len)
{
	static const char *const states[] = {"FI_LINK_UNKNOWN", "FI_LINK_DOWN",
					     "FI_LINK_UP"};
	const struct fid_nic *nic = crn_container_of(fid, const struct fid_nic, fid);
	const struct fi_device_attr *device = nic->device_attr;
	const struct fi_pci_attr *pci = &nic->bus_attr->attr.pci;
	const struct fi_link_attr *link = nic->link_attr;

	crn_append(buf, len,
		   "nic:\n    fi_device_attr:\n"
		   "        name: %s\n        device_id: %s\n        device_version: %s\n"
		   "        vendor_id: %s\n        driver: %s\n        firmware: %s\n",
		   crn_or_null(device->name), crn_or_null(device->device_id),
		   crn_or_null(device->device_version), crn_or_null(device->vendor_id),
		   crn_or_null(device->driver), crn_or_null(device->firmware));
	if (nic->bus_attr->bus_type == FI_BUS_PCI)
		crn_append(buf, len,
			   "    fi_bus_attr:\n        bus_type: FI_BUS_PCI\n"
			   "        fi_pci_attr:\n            domain_id: %u\n"
			   "            bus_id: %u\n            device_id: %u\n"
			   "            function_id: %u\n",
			   pci->domain_id, pci->bus_id, pci->device_id, pci->function_id);
	else
		crn_append(buf, len,
			   "    fi_bus_attr:\n        bus_type: FI_BUS_UNKNOWN\n");
	crn_append(buf, len,
		   "    fi_link_attr:\n        address: %s\n        mtu: %zu\n"
		   "        speed: %zu\n        state: %s\n        network_type: %s\n",
		   crn_or_null(link->address), link->mtu, link->speed,
		   (size_t)link->state < CRN_COUNT(states) ? states[link->state] : "?",
		   crn_or_null(link->network_type));
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
	struct fid_nic *nic = calloc(1, sizeof(*nic));

	if (!nic)
		return NULL;
	nic->fid.fclass = FI_CLASS_NIC;
	nic->fid.ops = &crn_nic_ops;
	nic->device_attr = calloc(1, sizeof(*nic->device_attr));
	nic->bus_attr = calloc(1, sizeof(*nic->bus_attr));
	nic->link_attr = calloc(1, sizeof(*nic->link_attr));
	if (!nic->device_attr || !nic->bus_attr || !nic->link_attr) {
		crn_nic_close(&nic->fid);
		return NULL;
	}
	return nic;
}
