/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <rdma/fi_errno.h>
#include "link.h"

/* RFC 791 and RFC 8200 section 5, which is draft section 6.1. */
#define MTU_MIN_V4 68
#define MTU_MIN_V6 1280
#define PKEY_PARTITION 0x7fff

static int look(struct pvb_link *link, uint64_t now_ms);

static uint32_t mtu_min(const struct pvb_link *link)
{
	return link->config.family == AF_INET6 ? MTU_MIN_V6 : MTU_MIN_V4;
}

int pvb_link_error(const struct pvb_sa_answer *answer)
{
	static const struct {
		uint16_t status;
		int err;
	} errors[] = {
		{PVB_SA_OK, 0},
		{PVB_SA_BUSY, -FI_EBUSY},
		{PVB_SA_NO_RESOURCES, -FI_ENOSPC},
		{PVB_SA_REQ_INVALID, -FI_EINVAL},
		{PVB_SA_NO_RECORDS, -FI_EADDRNOTAVAIL},
		{PVB_SA_INVALID_GID, -FI_EINVAL},
		{PVB_SA_INSUFFICIENT_COMPONENTS, -FI_EINVAL},
		{PVB_SA_REQ_DENIED, -FI_EINVAL},
	};
	size_t i;

	if (answer->err)
		return answer->err;
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].status == answer->status)
			return errors[i].err;
	return -FI_EIO;
}

/* What the administrator does not check: opensm lets a port join any MTU. */
static int accept_record(struct pvb_link *link, const struct pvb_sa_answer *answer)
{
	struct pvb_mcm mcm;

	if (pvb_mcm_unpack(answer->data, answer->len, &mcm) ||
	    memcmp(mcm.mgid, link->mgid, sizeof(mcm.mgid)) != 0 ||
	    (mcm.pkey ^ link->map.pkey) & PKEY_PARTITION || !pvb_link_mtu_valid(mcm.mtu))
		return -FI_EINVAL;
	if (mcm.mtu > link->config.port_mtu ||
	    pvb_link_mtu_bytes(mcm.mtu) < mtu_min(link))
		return -FI_EMSGSIZE;
	link->group = mcm;
	link->mtu = pvb_link_mtu_bytes(mcm.mtu);
	return 0;
}

static void answered(void *arg, const struct pvb_sa_answer *answer)
{
	struct pvb_link *const link = arg;
	int err = pvb_link_error(answer);

	if (!err)
		err = accept_record(link, answer);
	else if (err == -FI_EADDRNOTAVAIL && link->scopes < PVB_MC_SCOPES) {
		err = look(link, answer->now_ms);
		if (!err)
			return;
	}
	link->config.done(link->config.arg, link, err, answer->status);
}

static int map_group(struct pvb_link *link)
{
	const struct in_addr broadcast = {htonl(INADDR_BROADCAST)};
	struct in6_addr all_nodes = {{{0xff, 2, [15] = 1}}};

	if (link->config.family == AF_INET || link->config.profile == PVB_MC_RFC)
		return pvb_mc_map4(&link->map, broadcast, link->mgid);
	return pvb_mc_map6(&link->map, &all_nodes, link->mgid);
}

/* Asks for the group of the next scope. */
static int look(struct pvb_link *link, uint64_t now_ms)
{
	uint8_t record[PVB_MCM_SIZE];
	struct pvb_mcm mcm = {0};
	const struct pvb_sa_request request = {.method = PVB_SA_GET,
					       .attr = PVB_SA_MCMEMBER_RECORD,
					       .comp_mask = PVB_MCM_HAS_MGID,
					       .data = record,
					       .len = sizeof(record),
					       .wait_ms = link->config.wait_ms,
					       .tries = link->config.tries,
					       .done = answered,
					       .arg = link};
	int ret;

	link->map.scope = pvb_mc_scopes[link->scopes++];
	ret = map_group(link);
	if (ret)
		return ret;
	memcpy(mcm.mgid, link->mgid, sizeof(mcm.mgid));
	pvb_mcm_pack(record, &mcm);
	return pvb_sa_ask(link->client, &request, now_ms);
}

int pvb_link_open(struct pvb_link *link, struct pvb_sa_client *client,
		  const struct pvb_link_config *config, uint64_t now_ms)
{
	if ((config->family != AF_INET && config->family != AF_INET6) ||
	    !pvb_link_mtu_valid(config->port_mtu))
		return -FI_EINVAL;
	*link = (struct pvb_link){.client = client,
				  .config = *config,
				  .map = {.profile = config->profile,
					  .pkey = config->pkey}};
	return look(link, now_ms);
}

int pvb_link_set_mtu(struct pvb_link *link, uint32_t mtu)
{
	if (!link->mtu || mtu < mtu_min(link))
		return -FI_EINVAL;
	if (mtu > pvb_link_mtu_bytes(link->group.mtu))
		return -FI_EMSGSIZE;
	link->mtu = mtu;
	return 0;
}
