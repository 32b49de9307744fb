/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sa_ask.h"

#define SA_EVENTS 8
#define SA_EVENT_LEN 80

struct pvb_umad sa;

/* What happens, in words. */
static struct {
	char of[SA_EVENTS][SA_EVENT_LEN];
	uint64_t heard;
	uint64_t told;
} sa_events;
static uint64_t sa_subscriptions;

static char *sa_event(void)
{
	return sa_events.of[sa_events.heard++ % SA_EVENTS];
}

static void sa_notice(void *arg, const struct pvb_notice *notice)
{
	char mgid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, notice->details + PVB_NOTICE_GID_AT, mgid, sizeof(mgid));
	snprintf(sa_event(), SA_EVENT_LEN, "trap %u %s", notice->trap, mgid);
}

static void sa_subscribed(void *arg)
{
	if (sa_subscriptions++)
		strcpy(sa_event(), "subscribed");
}

static void sa_restarted(void *arg)
{
	strcpy(sa_event(), "restarted");
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
	int left;

	while (!pvb_umad_progress(&sa) && *count <= value &&
	       (now = pvb_umad_now()) < end) {
		left = pvb_umad_timeout(&sa);
		if (left < 0 || (uint64_t)left > end - now)
			left = (int)(end - now);
		poll(&wait, 1, left);
	}
	return *count > value;
}

void sa_close(void)
{
	const uint64_t never = 0;

	pvb_sa_watch_stop(&sa.watch, pvb_umad_now());
	while (pvb_sa_timeout(&sa.client, pvb_umad_now()) >= 0)
		sa_work_until(&never, 0, 10);
	pvb_umad_close(&sa);
}

bool sa_hear(uint64_t ms)
{
	if (!sa_work_until(&sa_events.heard, sa_events.told, ms))
		return false;
	puts(sa_events.of[sa_events.told++ % SA_EVENTS]);
	return true;
}

bool sa_subscribe(uint32_t look_ms)
{
	const struct pvb_sa_watch_config config = {.subscribe = true,
						   .wait_ms = 2 * SA_TRY_MS,
						   .tries = 1,
						   .again_ms = 2 * SA_TRY_MS,
						   .look_ms = look_ms,
						   .subscribed = sa_subscribed,
						   .restarted = sa_restarted};

	return !pvb_umad_watch(&sa, &config) &&
	       sa_work_until(&sa_subscriptions, 0, SA_WAIT_MS);
}

uint32_t sa_tries(void)
{
	const char *const tries = getenv("SA_TRIES");

	return tries ? (uint32_t)atoi(tries) : SA_WAIT_MS / SA_TRY_MS;
}

int sa_mcmember(uint8_t method, uint32_t mask, const struct pvb_mcm *mcm,
		struct pvb_mcm *found)
{
	uint8_t record[PVB_MCM_SIZE];
	const struct pvb_sa_request request = {.method = method,
					       .attr = PVB_SA_MCMEMBER_RECORD,
					       .comp_mask = mask,
					       .data = record,
					       .len = sizeof(record),
					       .wait_ms = SA_TRY_MS,
					       .tries = sa_tries()};
	struct pvb_sa_reply reply;
	int ret;

	pvb_mcm_pack(record, mcm);
	ret = pvb_sa_wait(&sa, &request, &reply);
	if (ret)
		return ret;
	ret = pvb_mcm_unpack(reply.data, reply.len, found);
	if (!ret)
		ret = reply.status;
	pvb_sa_reply_free(&reply);
	return ret;
}

int sa_tell(const struct sa_request *request, struct pvb_mcm *found)
{
	struct pvb_mcm ignored, mcm = {.qkey = request->qkey,
				       .mtu_selector = request->mtu ? PVB_SA_EXACTLY : 0,
				       .mtu = request->mtu,
				       .tclass = request->tclass,
				       .flow_label = request->flow,
				       .pkey = request->pkey,
				       .join_state = request->state};
	int ret;

	inet_pton(AF_INET6, request->mgid, mcm.mgid);
	memcpy(mcm.port_gid, request->port_gid ? request->port_gid : sa.port.gid,
	       sizeof(mcm.port_gid));
	ret = sa_mcmember(request->method, request->mask, &mcm, found ? found : &ignored);
	if (ret < 0)
		printf("%s: %s\n", request->name, strerror(-ret));
	else
		printf("%s: 0x%04x\n", request->name, (unsigned int)ret);
	return ret;
}
