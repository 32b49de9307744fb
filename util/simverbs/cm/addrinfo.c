/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * librdmacm of rdma-core 65: addresses that come with an event, and events of the
 * program's own. As there, DNS is asked in the call itself; its failure is the call's,
 * not an event. The subnet administrator (RAI_SA) does not exist here.
 */
#include <errno.h>
#include <string.h>
#include "cm.h"

int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type, int status,
			uint64_t arg);

/* Takes the place for a result, which one call at a time has until it is queried. */
static int svb_addrinfo_put(struct svb_cm_id *id, struct rdma_addrinfo *found)
{
	int ret = id->found ? EBUSY : 0;

	if (!ret &&
	    !svb_cm_report(id, (enum rdma_cm_event_type)SVB_CM_EVENT_ADDRINFO_RESOLVED,
			   0))
		ret = ENOMEM;
	if (!ret)
		id->found = found;
	return ret;
}

SVB_API int rdma_resolve_addrinfo(struct rdma_cm_id *cm_id, const char *node,
				  const char *service, const struct rdma_addrinfo *hints)
{
	struct svb_cm_id *id = svb_cm_id(cm_id);
	struct rdma_addrinfo *found;
	int ret;

	if (!id)
		return svb_cm_result(EINVAL);
	if (hints && hints->ai_flags & SVB_RAI_SA)
		return svb_cm_result(EOPNOTSUPP);
	if (rdma_getaddrinfo(node, service, hints, &found))
		return -1;
	svb_cm_lock();
	ret = svb_addrinfo_put(id, found);
	svb_cm_unlock();
	if (ret) {
		rdma_freeaddrinfo(found);
		return svb_cm_result(ret);
	}
	return svb_cm_complete(id);
}

SVB_API int rdma_query_addrinfo(struct rdma_cm_id *cm_id, struct rdma_addrinfo **info)
{
	struct svb_cm_id *id = svb_cm_id(cm_id);

	if (!id || !info)
		return svb_cm_result(EINVAL);
	svb_cm_lock();
	*info = id->found;
	id->found = NULL;
	svb_cm_unlock();
	return svb_cm_result(*info ? 0 : ENOENT);
}

SVB_API int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type,
				int status, uint64_t arg)
{
	struct svb_cm_event *event;

	if ((int)type != SVB_CM_EVENT_USER)
		return svb_cm_result(EINVAL);
	svb_cm_lock();
	event = svb_cm_report(svb_cm_id(id), type, status);
	/* param.arg, a member of the union since rdma-core 65. */
	if (event)
		memcpy(&event->event.param, &arg, sizeof(arg));
	svb_cm_unlock();
	return svb_cm_result(event ? 0 : ENOMEM);
}
