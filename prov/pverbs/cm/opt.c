/* SPDX-License-Identifier: BSD-2-Clause */
/* What endpoints and passive endpoints have in common: options of connection data, names.
 */
#include <stdlib.h>
#include <rdma/fi_ext_cairn.h>
#include "wire/wire.h"
#include "cm.h"
#include "internal.h"

size_t pvb_cm_data_size(bool raw)
{
	return raw ? PVB_CM_REQ_SIZE : PVB_CM_APP_SIZE;
}

int pvb_cm_getopt(bool raw, int level, int optname, void *optval, size_t *optlen)
{
	size_t need;

	if (level != FI_OPT_ENDPOINT)
		return -FI_ENOPROTOOPT;
	switch (optname) {
	case FI_OPT_CM_DATA_SIZE:
		need = sizeof(size_t);
		break;
	case FI_OPT_CAIRN_RAW_CM_DATA:
		need = sizeof(int);
		break;
	default:
		return -FI_ENOPROTOOPT;
	}
	if (*optlen < need) {
		*optlen = need;
		return -FI_ETOOSMALL;
	}
	*optlen = need;
	if (optname == FI_OPT_CM_DATA_SIZE)
		*(size_t *)optval = pvb_cm_data_size(raw);
	else
		*(int *)optval = raw;
	return 0;
}

int pvb_cm_setopt(bool *raw, int level, int optname, const void *optval, size_t optlen)
{
	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_CAIRN_RAW_CM_DATA)
		return -FI_ENOPROTOOPT;
	if (optlen != sizeof(int))
		return -FI_EINVAL;
	*raw = *(const int *)optval != 0;
	return 0;
}

int pvb_copy_src(uint32_t format, const void *addr, size_t len, struct sockaddr **src)
{
	struct sockaddr *copy;

	if (!crn_addr_valid(addr, len, format))
		return -FI_EINVAL;
	copy = crn_addr_dup(addr);
	if (!copy)
		return -FI_ENOMEM;
	free(*src);
	*src = copy;
	return 0;
}

int pvb_set_src(struct fi_info *info, const void *addr, size_t len)
{
	struct sockaddr *src = info->src_addr;
	int ret = pvb_copy_src(info->addr_format, addr, len, &src);

	if (ret)
		return ret;
	info->src_addr = src;
	info->src_addrlen = crn_addr_len(src);
	return 0;
}
