/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "front.h"

static void front_see(struct front *front, const void *bytes, size_t len)
{
	front->sends++;
	if (front->see)
		front->see(front, (uint8_t *)bytes, len);
}

static ssize_t front_inject(struct fid_ep *ep, const void *buf, size_t len,
			    fi_addr_t dest)
{
	struct front *front = crn_container_of(ep->msg, struct front, msg);

	front->injects++;
	front_see(front, buf, len);
	if (front->send || front->swallow)
		return front->send;
	return front->end->msg->inject(ep, buf, len, dest);
}

static ssize_t front_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct front *front = crn_container_of(ep->msg, struct front, msg);

	front_see(front, msg->msg_iov[0].iov_base, msg->msg_iov[0].iov_len);
	if (front->send || front->swallow)
		return front->send;
	return front->end->msg->sendmsg(ep, msg, flags);
}

static ssize_t front_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			  fi_addr_t src, void *context)
{
	struct front *front = crn_container_of(ep->msg, struct front, msg);

	front->recvs++;
	return front->recv ? front->recv
			   : front->end->msg->recv(ep, buf, len, desc, src, context);
}

static ssize_t front_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			      uint64_t flags)
{
	struct front *front = crn_container_of(ep->rma, struct front, rma);

	front->writes++;
	if (front->write || front->swallow)
		return front->write;
	return front->end->rma->writemsg(ep, msg, flags);
}

void front_put(struct front *front, struct rte_peer *peer)
{
	struct pair_end *end = peer->user;

	end->ep = peer->in->ep;
	end->msg = end->ep->msg;
	end->rma = end->ep->rma;
	front->end = end;
	front->msg = *end->msg;
	front->rma = *end->rma;
	front->msg.inject = front_inject;
	front->msg.sendmsg = front_sendmsg;
	front->msg.recv = front_recv;
	front->rma.writemsg = front_writemsg;
	end->ep->msg = &front->msg;
	end->ep->rma = &front->rma;
}

void front_remove(struct front *front)
{
	pair_end_bare(front->end);
}
