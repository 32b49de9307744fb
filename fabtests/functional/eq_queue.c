/* SPDX-License-Identifier: BSD-2-Clause */
/* The event queue as a queue. */
#include <poll.h>

#include "eq.h"

#define MANY 100
#define COUNT 50u

int fct_eq_sizes(struct fct *t)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
	struct fid_eq *eq;
	struct eq_bed b;
	int ret;

	FCT_DO(fct_eq_open(&b, t, FI_WAIT_NONE, 0));
	for (attr.size = 0; attr.size <= 65536;
	     attr.size = attr.size ? attr.size * 2 : 1) {
		ret = fi_eq_open(b.fabric, &attr, &eq, NULL);
		if (ret)
			FCT_FAIL(t, "size %zu: %s", attr.size, fi_strerror(-ret));
		FCT_CALL(t, fi_close(&eq->fid));
	}
out:
	return fct_eq_close(&b, ret);
}

int fct_eq_many(struct fct *t)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct fid_eq *eq[MANY] = {NULL};
	struct eq_bed b;
	int i, ret;

	FCT_DO(fct_eq_open(&b, t, FI_WAIT_NONE, 0));
	for (i = 0; i < MANY; i++) {
		ret = fi_eq_open(b.fabric, &attr, &eq[i], NULL);
		if (ret)
			FCT_FAIL(t, "queue %d: %s", i, fi_strerror(-ret));
	}
out:
	for (i = 0; i < MANY && eq[i]; i++)
		if (fi_close(&eq[i]->fid))
			ret = fct_fail_at(t, __FILE__, __LINE__, "fi_close of queue %d",
					  i);
	return fct_eq_close(&b, ret);
}

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

int fct_eq_wait_objects(struct fct *t)
{
	if (one_wait_object(t, FI_WAIT_NONE, false) ||
	    one_wait_object(t, FI_WAIT_UNSPEC, false))
		return -1;
	return one_wait_object(t, FI_WAIT_FD, true);
}

int fct_eq_unspec_fd(struct fct *t)
{
	return one_wait_object(t, FI_WAIT_UNSPEC, true);
}

int fct_eq_empty(struct fct *t)
{
	struct fi_eq_err_entry err = {0};
	struct eq_bed b;
	int ret;

	FCT_DO(fct_eq_open(&b, t, FI_WAIT_NONE, 16));
	FCT_DO(fct_eq_none(&b));
	FCT_ERR(t, fi_eq_readerr(b.eq, &err, 0), -FI_EAGAIN);
out:
	return fct_eq_close(&b, ret);
}

int fct_eq_write_read(struct fct *t)
{
	struct eq_bed b;
	unsigned int i;
	int ret;

	FCT_DO(fct_eq_open(&b, t, FI_WAIT_NONE, COUNT));
	for (i = 0; i < COUNT; i++)
		FCT_DO(fct_eq_put(&b, i));
	for (i = 0; i < COUNT; i++)
		FCT_DO(fct_eq_get(&b, i, 0));
	FCT_DO(fct_eq_none(&b));
	FCT_DO(fct_eq_put(&b, 7));
	FCT_DO(fct_eq_get(&b, 7, 0));
out:
	return fct_eq_close(&b, ret);
}

int fct_eq_peek(struct fct *t)
{
	struct eq_bed b;
	int ret;

	FCT_DO(fct_eq_open(&b, t, FI_WAIT_NONE, 16));
	FCT_DO(fct_eq_put(&b, 1));
	FCT_DO(fct_eq_put(&b, 2));
	FCT_DO(fct_eq_get(&b, 1, FI_PEEK));
	FCT_DO(fct_eq_get(&b, 1, FI_PEEK));
	FCT_DO(fct_eq_get(&b, 1, 0));
	FCT_DO(fct_eq_get(&b, 2, FI_PEEK));
	FCT_DO(fct_eq_get(&b, 2, 0));
	FCT_DO(fct_eq_none(&b));
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

int fct_eq_overrun(struct fct *t)
{
	struct fi_eq_entry entry = {.data = 0};
	struct eq_bed b;
	uint64_t i, kept;
	ssize_t n = 0;
	int ret;

	FCT_DO(fct_eq_open(&b, t, FI_WAIT_NONE, 8));
	entry.fid = &b.eq->fid;
	entry.context = &b;
	for (kept = 0; kept < 5000; kept++) {
		entry.data = kept;
		n = fi_eq_write(b.eq, FI_NOTIFY, &entry, sizeof(entry), 0);
		if (n < 0)
			break;
	}
	fct_note(t, "%llu events kept, then %zd", (unsigned long long)kept,
		 n < 0 ? n : 0);
	FCT_TRUE(t, kept >= 8);
	for (i = 0; i < kept; i++)
		FCT_DO(fct_eq_get(&b, i, 0));
	FCT_DO(fct_eq_none(&b));
	FCT_DO(fct_eq_put(&b, 1));
	FCT_DO(fct_eq_get(&b, 1, 0));
out:
	return fct_eq_close(&b, ret);
}

int fct_eq_strerror(struct fct *t)
{
	struct eq_bed b;
	const char *p;
	char text[64] = "";
	int ret;

	FCT_DO(fct_eq_open(&b, t, FI_WAIT_NONE, 16));
	p = fi_eq_strerror(b.eq, FI_ECONNREFUSED, NULL, text, sizeof(text));
	FCT_TRUE(t, p && *p);
	p = fi_eq_strerror(b.eq, FI_ECONNREFUSED, NULL, NULL, 0);
	FCT_TRUE(t, p && *p);
out:
	return fct_eq_close(&b, ret);
}
