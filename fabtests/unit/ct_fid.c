/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>
#include <rdma/fi_eq.h>
#include "cairn_test.h"
#include "ct_fid.h"

bool ct_readable(struct fid *fid)
{
	struct pollfd pollfd = {.events = POLLIN};

	CT_EXPECT_EQ(fi_control(fid, FI_GETWAIT, &pollfd.fd), 0);
	return poll(&pollfd, 1, 0) == 1;
}
