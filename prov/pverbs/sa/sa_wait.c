/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "sa_umad.h"

struct waiter {
	bool done;
	int err;
	struct pvb_sa_reply *reply;
};

static int keep(struct pvb_sa_reply *reply, const struct pvb_sa_answer *answer)
{
	if (answer->err)
		return answer->err;
	if (answer->len) {
		reply->data = malloc(answer->len);
		if (!reply->data)
			return -FI_ENOMEM;
		memcpy(reply->data, answer->data, answer->len);
	}
	reply->status = answer->status;
	reply->record_size = answer->record_size;
	reply->len = answer->len;
	return 0;
}

static void answered(void *arg, const struct pvb_sa_answer *answer)
{
	struct waiter *const waiter = arg;

	waiter->err = keep(waiter->reply, answer);
	waiter->done = true;
}

int pvb_sa_wait(struct pvb_umad *umad, const struct pvb_sa_request *request,
		struct pvb_sa_reply *reply)
{
	struct pollfd wait = {.fd = pvb_umad_fd(umad), .events = POLLIN};
	struct waiter waiter = {.reply = reply};
	struct pvb_sa_request copy = *request;
	int ret;

	copy.done = answered;
	copy.arg = &waiter;
	*reply = (struct pvb_sa_reply){0};
	ret = pvb_sa_ask(&umad->client, &copy, pvb_umad_now());
	if (ret)
		return ret;
	while (!waiter.done) {
		poll(&wait, 1, pvb_umad_timeout(umad));
		/* When the device is gone it ends all requests. */
		pvb_umad_progress(umad);
	}
	return waiter.err;
}

void pvb_sa_reply_free(struct pvb_sa_reply *reply)
{
	free(reply->data);
	*reply = (struct pvb_sa_reply){0};
}

int pvb_umad_mtu(struct pvb_umad *umad, uint32_t wait_ms, uint32_t tries, uint8_t *mtu)
{
	uint8_t record[PVB_PORT_INFO_SIZE];
	const struct pvb_sa_request request = {.method = PVB_SA_GET,
					       .attr = PVB_SA_PORT_INFO_RECORD,
					       .comp_mask = PVB_PORT_INFO_HAS_LID |
							    PVB_PORT_INFO_HAS_PORT,
					       .data = record,
					       .len = sizeof(record),
					       .wait_ms = wait_ms,
					       .tries = tries};
	struct pvb_port_info info = {.lid = umad->port.lid,
				     .port = (uint8_t)umad->port.number};
	struct pvb_sa_reply reply;
	int ret;

	pvb_port_info_pack(record, &info);
	ret = pvb_sa_wait(umad, &request, &reply);
	if (ret)
		return ret;
	if (reply.status || pvb_port_info_unpack(reply.data, reply.len, &info) ||
	    !info.mtu)
		ret = -FI_EIO;
	else
		*mtu = info.mtu;
	pvb_sa_reply_free(&reply);
	return ret;
}
