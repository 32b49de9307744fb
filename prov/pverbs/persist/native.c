/* SPDX-License-Identifier: BSD-2-Clause */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <string.h>
#include "native.h"

int pvb_native_offer(struct ibv_context *verbs, struct pvb_native *native)
{
	struct ibv_device_attr_ex attr;
	int err;

	memset(native, 0, sizeof(*native));
	memset(&attr, 0, sizeof(attr));
	err = ibv_query_device_ex(verbs, NULL, &attr);
	if (err)
		return -err;
	native->flush_global = attr.device_cap_flags_ex & PVB_DEVICE_FLUSH_GLOBAL;
	native->flush_persistent = attr.device_cap_flags_ex & PVB_DEVICE_FLUSH_PERSISTENT;
	native->atomic_write = attr.device_cap_flags_ex & PVB_DEVICE_ATOMIC_WRITE;
	return 0;
}

uint32_t pvb_native_ops(const struct pvb_native *native)
{
	uint32_t ops = 0;

	if (native->flush_persistent)
		ops |= PVB_QP_EX_WITH_FLUSH;
	if (native->atomic_write)
		ops |= PVB_QP_EX_WITH_ATOMIC_WRITE;
	return ops;
}

unsigned int pvb_native_access(const struct pvb_native *native)
{
	if (!native->flush_persistent)
		return 0;
	return PVB_ACCESS_FLUSH_PERSISTENT |
	       (native->flush_global ? PVB_ACCESS_FLUSH_GLOBAL : 0);
}
