/* SPDX-License-Identifier: BSD-2-Clause */
/* Passive endpoints. */
#include <stdlib.h>
#include <string.h>
#include "world.h"

static struct scr_pep *pep_of(fid_t fid)
{
	return crn_container_of(fid, struct scr_pep, fid.fid);
}

struct scr_pep *scr_pep_find(const void *addr)
{
	struct scr_object *object;
	struct crn_list *pos;
	struct scr_pep *pep;

	crn_list_for_each (pos, &scr_objects) {
		object = crn_container_of(pos, struct scr_object, entry);
		if (object->fid->fclass != FI_CLASS_PEP)
			continue;
		pep = pep_of(object->fid);
		if (pep->listening &&
		    crn_addr_port(pep->info->src_addr) == crn_addr_port(addr))
			return pep;
	}
	return NULL;
}

static int pep_close(struct fid *fid)
{
	struct scr_pep *pep = pep_of(fid);
	int ret = scr_enter(&(struct scr_record){.call = SCR_CLOSE, .fid = fid});

	if (ret)
		return ret;
	scr_object_del(&pep->object);
	scr_lock();
	scr_requests_refuse(pep);
	scr_held_drop_events(fid);
	scr_unlock();
	if (pep->eq) {
		crn_eq_forget(&pep->eq->eq, fid);
		atomic_fetch_sub(&pep->eq->eq.refs, 1);
	}
	atomic_fetch_sub(&pep->fabric->refs, 1);
	fi_freeinfo(pep->info);
	free(pep);
	return 0;
}

static int pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct scr_pep *pep = pep_of(fid);
	struct scr_record record = {
		.call = SCR_BIND, .fid = fid, .other = bfid, .flags = flags};
	int ret = scr_enter(&record);

	if (ret)
		return ret;
	if (bfid->fclass != FI_CLASS_EQ || pep->eq || flags)
		return -FI_EINVAL;
	pep->eq = crn_container_of(bfid, struct scr_eq, eq.fid.fid);
	atomic_fetch_add(&pep->eq->eq.refs, 1);
	return 0;
}

static int pep_control(struct fid *fid, int command, void *arg)
{
	struct scr_record record = {.call = SCR_CONTROL,
				    .fid = fid,
				    .data = (uint64_t)command};
	int ret = scr_enter(&record);

	if (ret)
		return ret;
	return command == FI_BACKLOG ? 0 : -FI_ENOSYS;
}

static struct fi_ops pep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pep_close,
	.bind = pep_bind,
	.control = pep_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int pep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct scr_pep *pep = pep_of(fid);
	int ret = scr_enter(&(struct scr_record){.call = SCR_SETNAME, .fid = fid});

	if (ret)
		return ret;
	if (pep->listening)
		return -FI_EOPBADSTATE;
	if (!crn_addr_valid(addr, addrlen, FI_SOCKADDR_IN))
		return -FI_EINVAL;
	memcpy(pep->info->src_addr, addr, sizeof(struct sockaddr_in));
	return 0;
}

static int pep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	int ret = scr_enter(&(struct scr_record){.call = SCR_GETNAME, .fid = fid});

	return ret ? ret : crn_addr_copy_out(pep_of(fid)->info->src_addr, addr, addrlen);
}

static int pep_listen(struct fid_pep *fid)
{
	struct scr_pep *pep = pep_of(&fid->fid);
	int ret = scr_enter(&(struct scr_record){.call = SCR_LISTEN, .fid = &fid->fid});

	if (ret)
		return ret;
	if (!pep->eq)
		return -FI_ENOEQ;
	if (pep->listening)
		return -FI_EOPBADSTATE;
	scr_port_choose(pep->info);
	scr_lock();
	ret = scr_pep_find(pep->info->src_addr) ? -FI_EADDRINUSE : 0;
	pep->listening = !ret;
	scr_unlock();
	return ret;
}

static int pep_reject(struct fid_pep *fid, fid_t handle, const void *param,
		      size_t paramlen)
{
	struct scr_request *request;
	struct scr_record record = {
		.call = SCR_REJECT, .fid = &fid->fid, .other = handle, .len = paramlen};
	int ret = scr_enter(&record);

	if (ret)
		return ret;
	if (paramlen > scr_cm_data_limit())
		return -FI_EINVAL;
	scr_lock();
	request = scr_request_find(handle);
	ret = request ? scr_request_refuse(request, param, paramlen) : -FI_EINVAL;
	scr_unlock();
	return ret;
}

static struct fi_ops_cm pep_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = pep_setname,
	.getname = pep_getname,
	.getpeer = crn_nosys_getpeer,
	.connect = crn_nosys_connect,
	.listen = pep_listen,
	.accept = crn_nosys_accept,
	.reject = pep_reject,
	.shutdown = crn_nosys_shutdown,
	.join = crn_nosys_join,
};

int scr_passive_ep(struct fid_fabric *fabric_fid, struct fi_info *info,
		   struct fid_pep **fid, void *context)
{
	struct scr_fabric *fabric = crn_container_of(fabric_fid, struct scr_fabric, fid);
	struct scr_record record = {.call = SCR_PASSIVE_EP,
				    .fid = &fabric_fid->fid,
				    .context = context};
	int ret = scr_enter(&record);
	struct scr_pep *pep;

	if (ret)
		return ret;
	if (!info->src_addr)
		return -FI_EINVAL;
	pep = calloc(1, sizeof(*pep));
	if (!pep)
		return -FI_ENOMEM;
	pep->info = fi_dupinfo(info);
	if (!pep->info) {
		free(pep);
		return -FI_ENOMEM;
	}
	pep->fabric = fabric;
	pep->fid.fid.fclass = FI_CLASS_PEP;
	pep->fid.fid.context = context;
	pep->fid.fid.ops = &pep_fid_ops;
	pep->fid.ops = &scr_opt_ops;
	pep->fid.cm = &pep_cm_ops;
	atomic_fetch_add(&fabric->refs, 1);
	scr_object_add(&pep->object, &pep->fid.fid);
	*fid = &pep->fid;
	return 0;
}
