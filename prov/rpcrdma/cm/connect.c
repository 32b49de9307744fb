/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_cm(3): calls of the program. */
#include <cairn/nosys.h>
#include "cm.h"

static struct rpr_pep *pep_of(struct fid_pep *pep)
{
	return crn_container_of(pep, struct rpr_pep, fid);
}

static fid_t lower_of(fid_t fid)
{
	if (fid->fclass == FI_CLASS_PEP)
		return &crn_container_of(fid, struct rpr_pep, fid.fid)->lower->fid;
	return &crn_container_of(fid, struct rpr_ep, fid.fid)->lower->fid;
}

static int cm_setname(fid_t fid, void *addr, size_t addrlen)
{
	return fi_setname(lower_of(fid), addr, addrlen);
}

static int cm_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return fi_getname(lower_of(fid), addr, addrlen);
}

static int cm_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	return fi_getpeer(rpr_ep_of(ep)->lower, addr, addrlen);
}

/* The state changes first: the peer may be faster than the call returns. */
static int cm_begin(struct rpr_ep *ep)
{
	int ret = 0;

	crn_lock(rpr_lock_of(ep));
	if (ep->state == RPR_EP_ENABLED)
		ep->state = RPR_EP_CONNECTING;
	else
		ret = -FI_EOPBADSTATE;
	crn_unlock(rpr_lock_of(ep));
	return ret;
}

static int cm_begun(struct rpr_ep *ep, int ret)
{
	if (!ret)
		return 0;
	crn_lock(rpr_lock_of(ep));
	if (ep->state == RPR_EP_CONNECTING)
		ep->state = RPR_EP_ENABLED;
	crn_unlock(rpr_lock_of(ep));
	return ret;
}

/* The private data, an endpoint that is enabled as programs do without saying so, and its
 * state. */
static int cm_start(struct rpr_ep *ep, const void *param, size_t paramlen,
		    uint8_t buf[RPR_CM_DATA_MAX], size_t *len)
{
	ssize_t packed = rpr_cm_pack(ep, param, paramlen, buf);
	int ret = 0;

	if (packed < 0)
		return (int)packed;
	*len = (size_t)packed;
	if (ep->state == RPR_EP_OPEN)
		ret = fi_enable(&ep->fid);
	return ret ? ret : cm_begin(ep);
}

static int cm_connect(struct fid_ep *fid, const void *addr, const void *param,
		      size_t paramlen)
{
	struct rpr_ep *ep = rpr_ep_of(fid);
	uint8_t buf[RPR_CM_DATA_MAX];
	size_t len;
	int ret;

	ep->active = true;
	ret = cm_start(ep, param, paramlen, buf, &len);
	return ret ? ret : cm_begun(ep, fi_connect(ep->lower, addr, buf, len));
}

static int cm_accept(struct fid_ep *fid, const void *param, size_t paramlen)
{
	struct rpr_ep *ep = rpr_ep_of(fid);
	uint8_t buf[RPR_CM_DATA_MAX];
	size_t len;
	int ret = cm_start(ep, param, paramlen, buf, &len);

	return ret ? ret : cm_begun(ep, fi_accept(ep->lower, buf, len));
}

static int cm_listen(struct fid_pep *pep)
{
	/* tcp follows a NULL pointer. */
	return pep_of(pep)->obj.eq ? fi_listen(pep_of(pep)->lower) : -FI_ENOEQ;
}

static int cm_reject(struct fid_pep *fid, fid_t handle, const void *param,
		     size_t paramlen)
{
	struct rpr_pep *pep = pep_of(fid);
	struct rpr_request request;
	int ret = fi_reject(pep->lower, handle, param, paramlen);

	if (!ret)
		rpr_request_take(pep->fabric, handle, &request);
	return ret;
}

static int cm_shutdown(struct fid_ep *ep, uint64_t flags)
{
	return fi_shutdown(rpr_ep_of(ep)->lower, flags);
}

struct fi_ops_cm rpr_ep_cm = {
	.size = sizeof(struct fi_ops_cm),
	.setname = cm_setname,
	.getname = cm_getname,
	.getpeer = cm_getpeer,
	.connect = cm_connect,
	.listen = crn_nosys_listen,
	.accept = cm_accept,
	.reject = crn_nosys_reject,
	.shutdown = cm_shutdown,
	.join = crn_nosys_join,
};

struct fi_ops_cm rpr_pep_cm = {
	.size = sizeof(struct fi_ops_cm),
	.setname = cm_setname,
	.getname = cm_getname,
	.getpeer = crn_nosys_getpeer,
	.connect = crn_nosys_connect,
	.listen = cm_listen,
	.accept = crn_nosys_accept,
	.reject = cm_reject,
	.shutdown = crn_nosys_shutdown,
	.join = crn_nosys_join,
};
