/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_cm(3), of endpoints and passive ones. */
#include <cairn/nosys.h>
#include <cairn/pass.h>

static struct fid_pep *pass_pep(struct fid_pep *pep)
{
	return crn_container_of(pep, struct crn_pass_pep, fid)->lower;
}

static int pass_setname(fid_t fid, void *addr, size_t addrlen)
{
	return fi_setname(crn_pass_fid(fid), addr, addrlen);
}

static int pass_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return fi_getname(crn_pass_fid(fid), addr, addrlen);
}

static int pass_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	return fi_getpeer(crn_pass_lower(ep), addr, addrlen);
}

static int pass_connect(struct fid_ep *ep, const void *addr, const void *param,
			size_t paramlen)
{
	return fi_connect(crn_pass_lower(ep), addr, param, paramlen);
}

static int pass_listen(struct fid_pep *pep)
{
	return fi_listen(pass_pep(pep));
}

static int pass_accept(struct fid_ep *ep, const void *param, size_t paramlen)
{
	return fi_accept(crn_pass_lower(ep), param, paramlen);
}

static int pass_reject(struct fid_pep *pep, fid_t handle, const void *param,
		       size_t paramlen)
{
	return fi_reject(pass_pep(pep), handle, param, paramlen);
}

static int pass_shutdown(struct fid_ep *ep, uint64_t flags)
{
	return fi_shutdown(crn_pass_lower(ep), flags);
}

struct fi_ops_cm crn_pass_cm = {
	.size = sizeof(struct fi_ops_cm),
	.setname = pass_setname,
	.getname = pass_getname,
	.getpeer = pass_getpeer,
	.connect = pass_connect,
	.listen = pass_listen,
	.accept = pass_accept,
	.reject = pass_reject,
	.shutdown = pass_shutdown,
	/* What it gives is an object of its own, with events. */
	.join = crn_nosys_join,
};
