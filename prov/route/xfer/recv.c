/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives of the program. */
#include "ops.h"

static void recv_free(struct rte_vc *vc, struct rte_vc_recv *recv)
{
	crn_list_add_tail(&vc->free, &recv->entry);
}

struct rte_vc_recv *rte_vc_recv_take(struct rte_vc *vc)
{
	struct crn_list *entry = crn_list_pop(&vc->posted);

	return entry ? crn_container_of(entry, struct rte_vc_recv, entry) : NULL;
}

void rte_vc_recv_done(struct rte_vc *vc, struct rte_vc_recv *recv, uint64_t len,
		      uint64_t flags, uint64_t data)
{
	const struct crn_cq_comp comp = {
		.entry = {.op_context = recv->context,
			  .flags = flags,
			  .len = (size_t)len,
			  .buf = recv->iov_count ? recv->iov[0].iov_base : NULL,
			  .data = data},
		.src_addr = FI_ADDR_NOTAVAIL,
	};
	/* Data of a write have no other way to the program. */
	const bool report =
		(flags & FI_RMA) || crn_ep_reports(vc->attr.ep, CRN_EP_RX, recv->flags);

	recv_free(vc, recv);
	crn_ep_done(vc->attr.ep, CRN_EP_RX, &comp, report);
}

void rte_vc_recv_failed(struct rte_vc *vc, struct rte_vc_recv *recv, int err, size_t len,
			size_t olen)
{
	const struct fi_cq_err_entry entry = {
		.op_context = recv->context,
		.flags = FI_RECV | FI_MSG,
		.len = len,
		.buf = recv->iov_count ? recv->iov[0].iov_base : NULL,
		.olen = olen,
		.err = err,
		.prov_errno = err,
	};

	recv_free(vc, recv);
	crn_ep_fail(vc->attr.ep, CRN_EP_RX, &entry, FI_ADDR_NOTAVAIL);
}

/* Its length is a number. */
static bool recv_ends(const struct fi_msg *msg)
{
	size_t len = 0, i;

	for (i = 0; i < msg->iov_count; i++)
		if (__builtin_add_overflow(len, msg->msg_iov[i].iov_len, &len))
			return false;
	return true;
}

static void recv_fill(struct rte_vc_recv *recv, const struct fi_msg *msg, uint64_t flags)
{
	size_t i;

	recv->context = msg->context;
	recv->flags = flags;
	recv->len = 0;
	recv->iov_count = (uint32_t)msg->iov_count;
	for (i = 0; i < msg->iov_count; i++) {
		recv->iov[i] = msg->msg_iov[i];
		recv->len += msg->msg_iov[i].iov_len;
	}
}

ssize_t rte_vc_recv(struct rte_vc *vc, const struct fi_msg *msg, uint64_t flags)
{
	ssize_t ret = rte_vc_flags(flags, RTE_VC_RECV_FLAGS);
	struct crn_list *entry;

	if (ret)
		return ret;
	if (msg->iov_count > RTE_VC_IOV || !recv_ends(msg))
		return -FI_EINVAL;
	/* What arrived before the end is still the program's. */
	if (vc->state == RTE_VC_STOPPED && crn_list_empty(&vc->waiting))
		return -FI_ENOTCONN;
	if (crn_list_empty(&vc->free) || !crn_ep_begin(vc->attr.ep, CRN_EP_RX))
		return -FI_EAGAIN;
	entry = crn_list_pop(&vc->free);
	recv_fill(crn_container_of(entry, struct rte_vc_recv, entry), msg, flags);
	crn_list_add_tail(&vc->posted, entry);
	if (crn_unlikely(vc->state == RTE_VC_STOPPED)) {
		rte_vc_drain(vc);
		rte_vc_receives_end(vc);
	} else if (!crn_list_empty(&vc->waiting)) {
		rte_vc_settle(vc);
	}
	return 0;
}

int rte_vc_cancel(struct rte_vc *vc, void *context)
{
	struct crn_list *entry;
	struct rte_vc_recv *recv;

	crn_list_for_each (entry, &vc->posted) {
		recv = crn_container_of(entry, struct rte_vc_recv, entry);
		if (recv->context != context)
			continue;
		crn_list_del(entry);
		rte_vc_recv_failed(vc, recv, FI_ECANCELED, 0, 0);
		return 0;
	}
	return -FI_ENOENT;
}
