/* SPDX-License-Identifier: BSD-2-Clause */
/* The initiator's calls, as libfabric has them. */
#include <string.h>
#include "call.h"
#include "world.h"

/* Where counters tell of it the completion queue hears of errors alone. */
static uint64_t flags_of(const struct call *call)
{
	if (call->quiet || xpv_world.machine->special == SPECIAL_COUNTED)
		return call->flags;
	return call->flags | FI_COMPLETION;
}

static ssize_t call_rma(struct fid_ep *ep, const struct call *call, uint32_t number)
{
	bool read = call->kind == CALL_READ;
	struct iovec iov = {read ? xpv_world.result[number] : xpv_world.source[number],
			    call->len};
	void *desc = fi_mr_desc(read ? xpv_world.result_mr : xpv_world.source_mr);
	struct fi_rma_iov at = {(uintptr_t)xpv_world.pm + call->at, call->len,
				fi_mr_key(world_region(call->at))};
	struct fi_msg_rma msg = {.msg_iov = &iov,
				 .desc = &desc,
				 .iov_count = 1,
				 .rma_iov = &at,
				 .rma_iov_count = 1,
				 .context = (void *)(uintptr_t)(number + 1),
				 .data = number};
	uint64_t flags = flags_of(call);

	if (call->kind == CALL_WRITEDATA)
		flags |= FI_REMOTE_CQ_DATA;
	return read ? fi_readmsg(ep, &msg, flags) : fi_writemsg(ep, &msg, flags);
}

static ssize_t call_send(struct fid_ep *ep, const struct call *call, uint32_t number)
{
	struct iovec iov = {xpv_world.source[number], call->len};
	void *desc = fi_mr_desc(xpv_world.source_mr);
	struct fi_msg msg = {.msg_iov = &iov,
			     .desc = &desc,
			     .iov_count = 1,
			     .context = (void *)(uintptr_t)(number + 1)};

	return fi_sendmsg(ep, &msg, flags_of(call));
}

static ssize_t call_add(struct fid_ep *ep, const struct call *call, uint32_t number)
{
	struct fi_ioc ioc = {xpv_world.source[number], 1};
	void *desc = fi_mr_desc(xpv_world.source_mr);
	struct fi_rma_ioc at = {(uintptr_t)xpv_world.pm + call->at, 1,
				fi_mr_key(world_region(call->at))};
	struct fi_msg_atomic msg = {.msg_iov = &ioc,
				    .desc = &desc,
				    .iov_count = 1,
				    .rma_iov = &at,
				    .rma_iov_count = 1,
				    .datatype = FI_UINT64,
				    .op = FI_SUM,
				    .context = (void *)(uintptr_t)(number + 1)};

	return fi_atomicmsg(ep, &msg, flags_of(call));
}

/* The buffer is the program's again when the call returns. */
static ssize_t call_inject(struct fid_ep *ep, const struct call *call, uint32_t number)
{
	const uint64_t at = (uintptr_t)xpv_world.pm + call->at,
		       key = fi_mr_key(world_region(call->at));
	ssize_t ret;

	memcpy(xpv_world.inject, xpv_world.source[number], call->len);
	if (call->kind == CALL_INJECT)
		ret = fi_inject_write(ep, xpv_world.inject, call->len, 0, at, key);
	else if (call->kind == CALL_INJECTDATA)
		ret = fi_inject_writedata(ep, xpv_world.inject, call->len, number, 0, at,
					  key);
	else
		ret = fi_inject(ep, xpv_world.inject, call->len, 0);
	memset(xpv_world.inject, 0xff, call->len);
	return ret;
}

ssize_t xpv_call_make(const struct call *call, uint32_t number)
{
	struct fid_ep *ep = xpv_world.ep[call->pair][INITIATOR];

	switch (call->kind) {
	case CALL_SEND:
		return call_send(ep, call, number);
	case CALL_ADD:
		return call_add(ep, call, number);
	case CALL_INJECT:
	case CALL_INJECTDATA:
	case CALL_INJECTSEND:
		return call_inject(ep, call, number);
	default:
		return call_rma(ep, call, number);
	}
}
