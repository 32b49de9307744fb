/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading event and completion queues under a deadline. */
#include <poll.h>

#include "fct_fabric.h"

int fct_eq_look(struct fid_eq *eq, struct fct_event *e)
{
	ssize_t n;

	e->event = 0;
	e->len = 0;
	n = fi_eq_read(eq, &e->event, e->room, sizeof(e->room), 0);
	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL) {
		memset(&e->err, 0, sizeof(e->err));
		e->err.err_data = e->err_data;
		e->err.err_data_size = sizeof(e->err_data);
		n = fi_eq_readerr(eq, &e->err, 0);
		if (n == (ssize_t)sizeof(e->err))
			return 2;
		return fct_fail("fi_eq_readerr after -FI_EAVAIL returned %zd", n);
	}
	if (n < 0)
		return fct_fail("fi_eq_read returned %zd (%s)", n, fi_strerror((int)-n));
	if ((size_t)n > sizeof(struct fi_eq_cm_entry))
		e->len = (size_t)n - sizeof(struct fi_eq_cm_entry);
	return 1;
}

int fct_eq_next(struct fid_eq *eq, struct fct_event *e, const char *what)
{
	struct fct_wait w;
	int ret;

	fct_wait_init(&w, what);
	while (!(ret = fct_eq_look(eq, e))) {
		fct_progress();
		FCT_DO(fct_wait_again(&w));
	}
	return ret < 0 ? ret : ret - 1;
}

static const char *event_name(uint32_t event)
{
	return fi_tostr(&event, FI_TYPE_EQ_EVENT);
}

int fct_eq_expect(struct fid_eq *eq, uint32_t event, fid_t fid, struct fct_event *e)
{
	char want[64];
	int ret;

	snprintf(want, sizeof(want), "%s", event_name(event));
	ret = fct_eq_next(eq, e,
			  event == FI_CONNREQ	  ? "FI_CONNREQ"
			  : event == FI_CONNECTED ? "FI_CONNECTED"
			  : event == FI_SHUTDOWN  ? "FI_SHUTDOWN"
						  : "an event");
	if (ret < 0)
		return ret;
	if (ret)
		return fct_fail("expected %s, got error entry %d (%s; provider: %s)",
				want, e->err.err, fi_strerror(e->err.err),
				fi_eq_strerror(eq, e->err.prov_errno, e->err.err_data,
					       NULL, 0));
	if (e->event != event)
		return fct_fail("expected %s, got %s", want, event_name(e->event));
	if (fid && e->cm.fid != fid)
		return fct_fail("%s has the wrong fid", want);
	return 0;
}

int fct_eq_peek(struct fid_eq *eq, uint32_t event, struct fct_event *e)
{
	struct fct_wait w;
	ssize_t n;

	fct_wait_init(&w, "an event to be seen by FI_PEEK");
	while ((n = fi_eq_read(eq, &e->event, e->room, sizeof(e->room), FI_PEEK)) ==
	       -FI_EAGAIN) {
		fct_progress();
		FCT_DO(fct_wait_again(&w));
	}
	FCT_CALL(n);
	FCT_EQ(e->event, event);
	return 0;
}

int fct_eq_quiet(struct fid_eq *eq, const char *when)
{
	struct fct_event e;
	int ret;

	fct_progress();
	FCT_GET(ret, fct_eq_look(eq, &e));
	if (!ret)
		return 0;
	return fct_fail("%s: unexpected event %s", when,
			ret == 2 ? fi_strerror(e.err.err) : event_name(e.event));
}

int fct_eq_expect_err(struct fid_eq *eq, fid_t fid, struct fct_event *e)
{
	int ret = fct_eq_next(eq, e, "an error event");

	if (ret < 0)
		return ret;
	if (!ret)
		return fct_fail("expected an error entry, got %s", event_name(e->event));
	if (fid && e->err.fid != fid)
		return fct_fail("the error entry has the wrong fid");
	return 0;
}

int fct_cq_look(struct fid_cq *cq, struct fi_cq_data_entry *e, int *err)
{
	struct fi_cq_err_entry entry = {0};
	ssize_t n = fi_cq_read(cq, e, 1);

	*err = 0;
	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL) {
		n = fi_cq_readerr(cq, &entry, 0);
		*err = entry.err;
		e->op_context = entry.op_context;
		e->flags = entry.flags;
		if (n == 1 && entry.err <= 0)
			return fct_fail("fi_cq_readerr gives error %d", entry.err);
	}
	return n == 1 ? 1 : fct_fail("fi_cq_read or fi_cq_readerr returned %zd", n);
}

int fct_cq_next(struct fid_cq *cq, struct fi_cq_data_entry *e, const char *what)
{
	struct fct_wait w;
	ssize_t n;

	fct_wait_init(&w, what);
	while ((n = fi_cq_read(cq, e, 1)) == -FI_EAGAIN)
		if (fct_wait_again(&w))
			return -1;
	if (n == 1)
		return 0;
	if (n == -FI_EAVAIL)
		return 1;
	return fct_fail("fi_cq_read waiting for %s returned %zd (%s)", what, n,
			n < 0 ? fi_strerror((int)-n) : "more than asked for");
}

int fct_cq_fail(struct fid_cq *cq, const char *what)
{
	struct fi_cq_err_entry err = {0};
	ssize_t n = fi_cq_readerr(cq, &err, 0);

	if (n != 1)
		return fct_fail("%s: fi_cq_readerr after -FI_EAVAIL returned %zd", what,
				n);
	return fct_fail("%s failed: %d (%s; provider: %s)", what, err.err,
			fi_strerror(err.err),
			fi_cq_strerror(cq, err.prov_errno, err.err_data, NULL, 0));
}

int fct_comp_any(struct fid_cq *cq, struct fi_cq_data_entry *e, const char *what)
{
	int ret = fct_cq_next(cq, e, what);

	return ret > 0 ? fct_cq_fail(cq, what) : ret;
}

int fct_comp(struct fid_cq *cq, const void *ctx, uint64_t flags,
	     struct fi_cq_data_entry *e, const char *what)
{
	char have[128];

	if (fct_comp_any(cq, e, what))
		return -1;
	if (e->op_context != ctx)
		return fct_fail("%s: the completion has context %p, expected %p", what,
				e->op_context, ctx);
	if (e->flags != flags) {
		snprintf(have, sizeof(have), "%s",
			 fi_tostr(&e->flags, FI_TYPE_CQ_EVENT_FLAGS));
		return fct_fail_at(
			NULL, 0, "%s: completion flags 0x%llx [%s], expected 0x%llx [%s]",
			what, (unsigned long long)e->flags, have,
			(unsigned long long)flags,
			fi_tostr(&flags, FI_TYPE_CQ_EVENT_FLAGS));
	}
	return 0;
}

int fct_comp_err(struct fid_cq *cq, struct fi_cq_err_entry *err, const char *what)
{
	struct fi_cq_data_entry e;
	ssize_t n;
	int ret = fct_cq_next(cq, &e, what);

	if (ret < 0)
		return ret;
	if (!ret)
		return fct_fail_at(
			NULL, 0,
			"expected %s, got a successful completion (flags 0x%llx)", what,
			(unsigned long long)e.flags);
	memset(err, 0, sizeof(*err));
	n = fi_cq_readerr(cq, err, 0);
	if (n != 1)
		return fct_fail("%s: fi_cq_readerr after -FI_EAVAIL returned %zd", what,
				n);
	return 0;
}

int fct_sleep(struct fct_link *l, fid_t fid, int ms)
{
	struct pollfd pfd = {.events = POLLIN};
	int ret = fi_trywait(l->fabric, &fid, 1);

	if (ret == -FI_EAGAIN)
		return 0;
	FCT_CALL(ret);
	FCT_CALL(fi_control(fid, FI_GETWAIT, &pfd.fd));
	ret = poll(&pfd, 1, ms);
	FCT_TRUE(ret >= 0);
	return !ret;
}

int fct_cq_quiet(struct fid_cq *cq, const char *when)
{
	struct fi_cq_data_entry e;
	ssize_t n = fi_cq_read(cq, &e, 1);

	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL)
		return fct_cq_fail(cq, when);
	return fct_fail_at(
		NULL, 0,
		"%s: an unexpected completion (fi_cq_read returned %zd, flags 0x%llx)",
		when, n, n == 1 ? (unsigned long long)e.flags : 0);
}
