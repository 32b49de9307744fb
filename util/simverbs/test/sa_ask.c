/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include "sa_ask.h"

#define SA_NOTICES 8

struct pvb_umad sa;

static struct {
	struct pvb_notice of[SA_NOTICES];
	uint64_t heard;
	uint64_t told;
} sa_notices;

static void sa_notice(void *arg, const struct pvb_notice *notice)
{
	sa_notices.of[sa_notices.heard++ % SA_NOTICES] = *notice;
}

bool sa_open(const char *ca)
{
	const struct pvb_umad_config config = {.ca = ca, .notice = sa_notice};

	if (!pvb_umad_open(&sa, &config))
		return true;
	fprintf(stderr, "%s\n", sa.error);
	return false;
}

bool sa_work_until(const uint64_t *count, uint64_t value, uint64_t ms)
{
	struct pollfd wait = {.fd = pvb_umad_fd(&sa), .events = POLLIN};
	const uint64_t end = pvb_umad_now() + ms;
	uint64_t now;

	while (!pvb_umad_progress(&sa) && *count <= value && (now = pvb_umad_now()) < end)
		poll(&wait, 1, (int)(end - now));
	return *count > value;
}

bool sa_hear(uint64_t ms)
{
	char mgid[INET6_ADDRSTRLEN];
	const struct pvb_notice *notice;

	if (!sa_work_until(&sa_notices.heard, sa_notices.told, ms))
		return false;
	notice = &sa_notices.of[sa_notices.told++ % SA_NOTICES];
	inet_ntop(AF_INET6, notice->details + PVB_NOTICE_GID_AT, mgid, sizeof(mgid));
	printf("trap %u %s\n", notice->trap, mgid);
	return true;
}

static int sa_ask(uint8_t method, uint16_t attr, uint64_t mask, const void *data,
		  size_t len, struct pvb_sa_reply *reply)
{
	const struct pvb_sa_request request = {.method = method,
					       .attr = attr,
					       .comp_mask = mask,
					       .data = data,
					       .len = len,
					       .wait_ms = SA_WAIT_MS / 2,
					       .tries = 1};

	return pvb_sa_wait(&sa, &request, reply);
}

static void sa_pack(const struct sa_request *request, uint8_t *record)
{
	struct pvb_mcm mcm = {.qkey = request->qkey,
			      .mtu_selector = request->mtu ? PVB_SA_EXACTLY : 0,
			      .mtu = request->mtu,
			      .tclass = request->tclass,
			      .pkey = request->pkey,
			      .join_state = request->state};

	inet_pton(AF_INET6, request->mgid, mcm.mgid);
	memcpy(mcm.port_gid, request->port_gid ? request->port_gid : sa.port.gid,
	       sizeof(mcm.port_gid));
	pvb_mcm_pack(record, &mcm);
}

int sa_tell(const struct sa_request *request, struct pvb_mcm *found)
{
	uint8_t record[PVB_MCM_SIZE];
	struct pvb_sa_reply reply;
	struct pvb_mcm mcm;
	int ret;

	sa_pack(request, record);
	ret = sa_ask(request->method, PVB_SA_MCMEMBER_RECORD, request->mask, record,
		     sizeof(record), &reply);
	if (ret) {
		printf("%s: %s\n", request->name, strerror(-ret));
		return -1;
	}
	printf("%s: 0x%04x\n", request->name, reply.status);
	if (!pvb_mcm_unpack(reply.data, reply.len, &mcm) && found)
		*found = mcm;
	ret = reply.status;
	pvb_sa_reply_free(&reply);
	return ret;
}

bool sa_subscribe(void)
{
	const struct pvb_inform_info inform = {.lid_begin = PVB_INFORM_ALL_LIDS,
					       .generic = true,
					       .subscribe = true,
					       .type = PVB_NOTICE_TYPE_INFO,
					       .trap = PVB_INFORM_TYPE_ALL,
					       .qpn = 1,
					       .producer = PVB_PRODUCER_CLASS_MANAGER};
	uint8_t record[PVB_INFORM_SIZE];
	struct pvb_sa_reply reply;
	bool ok;

	pvb_inform_info_pack(record, &inform);
	ok = !sa_ask(PVB_SA_SET, PVB_SA_INFORM_INFO, 0, record, sizeof(record), &reply) &&
	     !reply.status;
	pvb_sa_reply_free(&reply);
	return ok && sa.reports;
}
