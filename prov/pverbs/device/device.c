/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the addresses that rdma_cm can use: every address of every interface is bound to
 * a throw-away id, and the ids that got a device tell which device and port it is. There
 * is no other mapping from IP address to device that is right for IB, RoCE and iWARP
 * alike.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include "device.h"
#include "internal.h"

bool pvb_device_wanted(const char *name)
{
	const char *at = pvb_params.device;
	size_t len = strlen(name);

	if (!at || !*at)
		return true;
	while (at) {
		if (!strncmp(at, name, len) && (at[len] == '\0' || at[len] == ','))
			return true;
		at = strchr(at, ',');
		if (at)
			at++;
	}
	return false;
}

/* What datagrams from the address have as their source. */
static void pvb_device_path(const struct rdma_cm_id *id, struct pvb_device_addr *out)
{
	const struct rdma_ib_addr *own = &id->route.addr.addr.ibaddr;

	out->pkey = ntohs(own->pkey);
	if (own->sgid.global.subnet_prefix || own->sgid.global.interface_id)
		memcpy(out->gid, own->sgid.raw, sizeof(out->gid));
	else
		pvb_gid_of_addr(&out->addr.sa, out->gid);
}

/*
 * 0 and a filled entry; -FI_ENODEV if rdma_cm has no device for the address, or none
 * that the user selected; another code if that could not be determined.
 */
static int pvb_device_probe(struct rdma_event_channel *channel, const struct sockaddr *sa,
			    struct pvb_device_addr *out)
{
	struct rdma_cm_id *id;
	union ibv_gid gid;
	int ret;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return pvb_errno();

	memset(out, 0, sizeof(*out));
	memcpy(&out->addr, sa, crn_addr_len(sa));
	ret = -FI_ENODEV;
	if (rdma_bind_addr(id, &out->addr.sa)) {
		if (pvb_is_shortage(pvb_errno()))
			ret = pvb_errno();
		goto out;
	}
	if (!id->verbs)
		goto out;
	crn_addr_set_port(&out->addr.sa, 0);
	if (!pvb_device_wanted(ibv_get_device_name(id->verbs->device)) ||
	    !pvb_path_wanted(id))
		goto out;

	strncpy(out->device, ibv_get_device_name(id->verbs->device),
		sizeof(out->device) - 1);
	out->port = id->port_num;
	out->iwarp = id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	out->quirks = pvb_device_quirks(id->verbs);
	if (ibv_query_device(id->verbs, &out->attr) ||
	    ibv_query_port(id->verbs, out->port, &out->port_attr)) {
		PVB_WARN(FI_LOG_FABRIC, "%s: device attributes cannot be read: %s\n",
			 out->device, strerror(errno));
		goto out;
	}
	pvb_device_path(id, out);
	if (!ibv_query_gid(id->verbs, out->port, 0, &gid))
		out->subnet_prefix = be64toh(gid.global.subnet_prefix);
	ret = 0;
out:
	rdma_destroy_id(id);
	return ret;
}

static int pvb_device_rank(const struct pvb_device_addr *entry)
{
	if (crn_addr_is_linklocal(&entry->addr.sa))
		return 2;
	return entry->addr.sa.sa_family == AF_INET ? 0 : 1;
}

static int pvb_device_compare(const void *a, const void *b)
{
	const struct pvb_device_addr *x = a, *y = b;
	int diff = strcmp(x->device, y->device);

	if (!diff)
		diff = (int)x->port - (int)y->port;
	if (!diff)
		diff = pvb_device_rank(x) - pvb_device_rank(y);
	return diff ? diff : memcmp(&x->addr, &y->addr, sizeof(x->addr));
}

static bool pvb_device_candidate(const struct ifaddrs *ifa)
{
	return ifa->ifa_addr && (ifa->ifa_flags & IFF_UP) &&
	       !(ifa->ifa_flags & IFF_LOOPBACK) && crn_addr_len(ifa->ifa_addr) != 0;
}

int pvb_device_addrs(struct pvb_device_addr **list, size_t *count)
{
	struct rdma_event_channel *channel;
	struct pvb_device_addr *found = NULL;
	struct ifaddrs *ifaddrs, *ifa;
	size_t n = 0, most = 0;
	int ret = 0;

	channel = rdma_create_event_channel();
	if (!channel) {
		ret = pvb_errno();
		if (pvb_is_shortage(ret))
			return ret;
		PVB_INFO(FI_LOG_FABRIC,
			 "no rdma_cm on this system (%s): is the module "
			 "rdma_ucm loaded and /dev/infiniband/rdma_cm accessible?\n",
			 strerror(-ret));
		return -FI_ENODATA;
	}
	if (getifaddrs(&ifaddrs)) {
		ret = pvb_errno();
		goto out_channel;
	}
	for (ifa = ifaddrs; ifa; ifa = ifa->ifa_next)
		most += pvb_device_candidate(ifa);
	if (most) {
		found = calloc(most, sizeof(*found));
		if (!found) {
			ret = -FI_ENOMEM;
			goto out_ifaddrs;
		}
	}
	for (ifa = ifaddrs; ifa && n < most; ifa = ifa->ifa_next) {
		if (!pvb_device_candidate(ifa))
			continue;
		ret = pvb_device_probe(channel, ifa->ifa_addr, &found[n]);
		if (!ret)
			n++;
		else if (ret != -FI_ENODEV)
			goto err_found;
	}
	ret = 0;
	if (!n) {
		PVB_INFO(FI_LOG_FABRIC,
			 "no interface address belongs to a verbs device%s%s%s\n",
			 pvb_params.device ? " named in FI_PVERBS_DEVICE=" : "",
			 pvb_params.device ? pvb_params.device : "",
			 pvb_params.gid_index >= 0 || pvb_params.pkey
				 ? " with the wanted GID index and partition"
				 : "");
		ret = -FI_ENODATA;
		goto err_found;
	}
	qsort(found, n, sizeof(*found), pvb_device_compare);
	*list = found;
	*count = n;
	goto out_ifaddrs;
err_found:
	free(found);
out_ifaddrs:
	freeifaddrs(ifaddrs);
out_channel:
	rdma_destroy_event_channel(channel);
	return ret;
}

int pvb_device_open(const char *name, struct ibv_context **verbs)
{
	struct ibv_device **devices;
	int i, count, ret = -FI_ENODEV;

	devices = ibv_get_device_list(&count);
	if (!devices)
		return pvb_errno();
	for (i = 0; i < count; i++) {
		if (strcmp(ibv_get_device_name(devices[i]), name) != 0)
			continue;
		*verbs = ibv_open_device(devices[i]);
		ret = *verbs ? 0 : pvb_errno();
		break;
	}
	ibv_free_device_list(devices);
	return ret;
}

bool pvb_atomic_device(const struct ibv_device_attr *attr, uint32_t quirks)
{
	return !(quirks & PVB_QUIRK_NO_ATOMICS) && attr->atomic_cap != IBV_ATOMIC_NONE;
}
