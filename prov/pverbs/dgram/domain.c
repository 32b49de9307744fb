/* SPDX-License-Identifier: BSD-2-Clause */
/* What a domain has for datagrams. */
#include <stdlib.h>
#include <string.h>
#include "sa/sa.h"
#include "dgram.h"
#include "internal.h"

static int ud_excess_open(struct pvb_domain *domain, struct pvb_ud_domain *ud)
{
	void *excess = malloc(ud->path.mtu);
	int ret;

	if (!excess)
		return -FI_ENOMEM;
	ud->excess_mr =
		ibv_reg_mr(domain->pd, excess, ud->path.mtu, IBV_ACCESS_LOCAL_WRITE);
	if (ud->excess_mr) {
		ud->excess.addr = (uintptr_t)excess;
		ud->excess.length = ud->path.mtu;
		ud->excess.lkey = ud->excess_mr->lkey;
		return 0;
	}
	ret = pvb_errno();
	free(excess);
	return ret;
}

static void ud_excess_close(struct pvb_ud_domain *ud)
{
	ibv_dereg_mr(ud->excess_mr);
	free((void *)(uintptr_t)ud->excess.addr);
}

/* The draft's MGIDs have the P_Key as the user writes it, that of RFC 4391 as a full
 * member has it. */
static int ud_link_init(const struct pvb_domain *domain, struct pvb_ud_domain *ud)
{
	const struct pvb_ud_path *path = &ud->path;

	if (pvb_params.link == PVB_LINK_NONE || path->ethernet)
		return 0;
	ud->link = (struct pvb_ud_link){
		.on = true,
		.profile = pvb_params.link == PVB_LINK_DRAFT ? PVB_MC_DRAFT : PVB_MC_RFC,
		.scope = pvb_mc_scopes[0],
		.pkey = pvb_params.pkey ? (uint16_t)pvb_params.pkey : path->addr.pkey,
		.qkey = PVB_UD_QKEY_LINK,
	};
	if (!pvb_params.qkey)
		return pvb_ud_link_qkey(domain, ud, &ud->link.qkey);
	ud->link.qkey = (uint32_t)pvb_params.qkey;
	return 0;
}

int pvb_ud_domain_open(struct pvb_domain *domain)
{
	const struct fi_info *info = domain->info;
	struct pvb_ud_addr src = {0};
	char text[PVB_UD_STRLEN];
	struct pvb_ud_domain *ud;
	int ret;

	if (info->src_addr && info->src_addrlen != sizeof(src))
		return -FI_EINVAL;
	if (!pvb_ud_device_fits(pvb_domain_device(domain), domain->attr.max_sge,
				FI_LOG_WARN))
		return -FI_EOPNOTSUPP;
	if (info->src_addr)
		memcpy(&src, info->src_addr, sizeof(src));
	ud = calloc(1, sizeof(*ud));
	if (!ud)
		return -FI_ENOMEM;
	ud->prefix = info->mode & FI_MSG_PREFIX;
	ret = pvb_ud_path_find(domain->verbs, &src, &ud->path);
	if (ret) {
		pvb_ud_text(&src, text, sizeof(text));
		PVB_WARN(FI_LOG_DOMAIN, "%s has no port for datagrams from %s: %s\n",
			 pvb_domain_device(domain), text, fi_strerror(-ret));
		goto err;
	}
	ret = ud_link_init(domain, ud);
	if (ret)
		goto err;
	ret = ud_excess_open(domain, ud);
	if (ret)
		goto err;
	ret = pvb_ahs_init(&ud->ahs);
	if (ret)
		goto err_excess;
	domain->ud = ud;
	return 0;
err_excess:
	ud_excess_close(ud);
err:
	free(ud);
	return ret;
}

void pvb_ud_domain_close(struct pvb_domain *domain)
{
	if (!domain->ud)
		return;
	pvb_ahs_fini(&domain->ud->ahs);
	ud_excess_close(domain->ud);
	free(domain->ud);
}
