/* SPDX-License-Identifier: BSD-2-Clause */
/* The event queue as a queue. */
#include <poll.h>

#include "eq.h"

#define MANY 100
#define COUNT 50u

static int one_wait_object(struct fct *t, enum fi_wait_obj wait, bool must_have_fd)
{
	enum fi_wait_obj told = FI_WAIT_MUTEX_COND;
	struct pollfd pfd = {.fd = -1, .events = POLLIN};
	struct eq_bed b;
	int ret;

	FCT_DO(fct_eq_open(&b, t, wait, 16));
	if (wait == FI_WAIT_NONE)
		goto out;
	ret = fi_control(&b.eq->fid, FI_GETWAITOBJ, &told);
	if (ret == -FI_ENOSYS || ret == -FI_EOPNOTSUPP) {
		fct_note(t, "FI_GETWAITOBJ: %s", fi_strerror(-ret));
		told = wait;
		ret = 0;
	}
	FCT_CALL(t, ret);
	if (wait == FI_WAIT_FD)
		FCT_EQ(t, told, FI_WAIT_FD);
	if (must_have_fd || told == FI_WAIT_FD) {
		FCT_CALL(t, fi_control(&b.eq->fid, FI_GETWAIT, &pfd.fd));
		FCT_TRUE(t, pfd.fd >= 0);
		FCT_TRUE(t, poll(&pfd, 1, 0) >= 0);
		FCT_TRUE(t, !(pfd.revents & POLLNVAL));
	}
out:
	return fct_eq_close(&b, ret);
}

int fct_eq_too_small(struct fct *t)
{
	uint8_t small[sizeof(struct fi_eq_entry) - 1];
	struct eq_bed b;
	uint32_t event;
	int ret;

	FCT_DO(fct_eq_open(&b, t, FI_WAIT_NONE, 16));
	FCT_DO(fct_eq_put(&b, 1));
	FCT_ERR(t, fi_eq_read(b.eq, &event, small, sizeof(small), 0), -FI_ETOOSMALL);
	FCT_DO(fct_eq_get(&b, 1, 0));
out:
	return fct_eq_close(&b, ret);
}

int fct_eq_no_write(struct fct *t)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_eq_entry entry = {0};
	struct fid_eq *eq = NULL;
	struct eq_bed b;
	int ret;

	FCT_DO(fct_eq_open(&b, t, FI_WAIT_NONE, 16));
	FCT_CALL(t, fi_eq_open(b.fabric, &attr, &eq, NULL));
	FCT_REFUSED(t, fi_eq_write(eq, FI_NOTIFY, &entry, sizeof(entry), 0));
out:
	if (eq)
		fi_close(&eq->fid);
	return fct_eq_close(&b, ret);
}
