/* SPDX-License-Identifier: BSD-2-Clause */
/* Why memory was not registered. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include "device.h"

void pvb_mr_explain(int err, const void *buf, size_t len)
{
	struct rlimit limit;

	if (err == ENOMEM && !getrlimit(RLIMIT_MEMLOCK, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY)
		PVB_WARN(FI_LOG_MR,
			 "registering %zu bytes failed: %s. RLIMIT_MEMLOCK is %llu "
			 "bytes; raise "
			 "it with ulimit -l or in /etc/security/limits.conf\n",
			 len, strerror(err), (unsigned long long)limit.rlim_cur);
	else
		PVB_INFO(FI_LOG_MR, "registering %zu bytes at %p failed: %s\n", len, buf,
			 strerror(err));
}
