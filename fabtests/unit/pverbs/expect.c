/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests say about the events and completions they find: world.h. */
#include "world.h"

/* Of the line that called, which is in file and line. */
#define EQUAL(a, b) ct_compare(file, line, CT_EQ, #a, #b, CT_VALUE(a), CT_VALUE(b))

void expect_event_at(const char *file, int line, struct fid_eq *eq, uint32_t type,
		     fid_t fid, const void *data, size_t len)
{
	struct {
		struct fi_eq_cm_entry cm;
		uint8_t data[UINT8_MAX];
	} entry;
	uint32_t event = 0;
	ssize_t ret = fi_eq_read(eq, &event, &entry, sizeof(entry), 0);

	if (!EQUAL(ret, (ssize_t)(sizeof(entry.cm) + len)))
		return;
	EQUAL(event, type);
	EQUAL(entry.cm.fid, fid);
	if (len)
		ct_memeq(file, line, "event data", "data", entry.cm.data, data, len);
}

void expect_no_event_at(const char *file, int line, struct fid_eq *eq)
{
	uint8_t buf[512];
	uint32_t event = 0;

	EQUAL(fi_eq_read(eq, &event, buf, sizeof(buf), 0), -FI_EAGAIN);
}

void expect_eq_error_at(const char *file, int line, struct fid_eq *eq, fid_t fid, int err,
			int prov_errno)
{
	struct fi_eq_err_entry entry = {0};
	uint8_t buf[512];
	uint32_t event = 0;

	EQUAL(fi_eq_read(eq, &event, buf, sizeof(buf), 0), -FI_EAVAIL);
	if (!EQUAL(fi_eq_readerr(eq, &entry, 0), sizeof(entry)))
		return;
	EQUAL(entry.fid, fid);
	EQUAL(entry.err, err);
	EQUAL(entry.prov_errno, prov_errno);
}

void expect_comp_at(const char *file, int line, struct fid_cq *cq, void *context,
		    uint64_t flags, size_t len, uint64_t data)
{
	struct fi_cq_data_entry entry = {0};

	if (!EQUAL(fi_cq_read(cq, &entry, 1), 1))
		return;
	EQUAL(entry.op_context, context);
	EQUAL(entry.flags, flags);
	EQUAL(entry.len, len);
	EQUAL(entry.data, data);
}

void expect_no_comp_at(const char *file, int line, struct fid_cq *cq)
{
	struct fi_cq_data_entry entry;

	EQUAL(fi_cq_read(cq, &entry, 1), -FI_EAGAIN);
}

static bool read_cq_error(const char *file, int line, struct fid_cq *cq,
			  struct fi_cq_err_entry *error)
{
	struct fi_cq_data_entry entry;

	EQUAL(fi_cq_read(cq, &entry, 1), -FI_EAVAIL);
	*error = (struct fi_cq_err_entry){0};
	return EQUAL(fi_cq_readerr(cq, error, 0), 1);
}

void expect_cq_error_at(const char *file, int line, struct fid_cq *cq, void *context,
			uint64_t flags, int err)
{
	struct fi_cq_err_entry error;

	if (!read_cq_error(file, line, cq, &error))
		return;
	EQUAL(error.op_context, context);
	EQUAL(error.flags, flags);
	EQUAL(error.err, err);
}

void expect_cq_reason_at(const char *file, int line, struct fid_cq *cq, void *context,
			 int err, int prov_errno)
{
	struct fi_cq_err_entry error;

	if (!read_cq_error(file, line, cq, &error))
		return;
	EQUAL(error.op_context, context);
	EQUAL(error.err, err);
	EQUAL(error.prov_errno, prov_errno);
}

unsigned int read_all_comps(struct fid_cq *cq, unsigned int *errors)
{
	struct fi_cq_err_entry error = {0};
	struct fi_cq_data_entry entry;
	unsigned int count = 0;
	ssize_t ret;

	*errors = 0;
	while ((ret = fi_cq_read(cq, &entry, 1)) != -FI_EAGAIN) {
		if (ret == -FI_EAVAIL && fi_cq_readerr(cq, &error, 0) == 1)
			(*errors)++;
		else
			CT_EXPECT_EQ(ret, 1);
		if (++count > 100000) {
			CT_EXPECT_LE(count, 100000);
			break;
		}
	}
	return count;
}

void expect_failed_comps_at(const char *file, int line, struct fid_cq *cq,
			    unsigned int count)
{
	unsigned int errors, all = read_all_comps(cq, &errors);

	EQUAL(all, count);
	EQUAL(errors, count);
}

void expect_survives_enomem_at(const char *file, int line, struct world *w,
			       int (*open)(struct world *w, struct fid **fid))
{
	const int objects = fake_objects;
	struct fid *fid = NULL;
	unsigned int nth;
	int ret;

	for (nth = 1;; nth++) {
		CT_NOTE("allocation %u", nth);
		ct_fail_alloc(nth);
		ret = open(w, &fid);
		if (!ct_alloc_failed())
			break;
		EQUAL(ret, -FI_ENOMEM);
		EQUAL(fake_objects, objects);
	}
	if (EQUAL(ret, 0))
		EQUAL(fi_close(fid), 0);
}

void expect_survives_emfile_at(const char *file, int line, struct world *w,
			       int (*open)(struct world *w, struct fid **fid),
			       unsigned int needed)
{
	const int objects = fake_objects;
	struct fid *fid = NULL;
	unsigned int left;
	int ret;

	for (left = 0; left <= needed; left++) {
		CT_NOTE("%u descriptors left", left);
		ct_fds_left(left);
		ret = open(w, &fid);
		ct_fds_restore();
		EQUAL(ret, left < needed ? -FI_EMFILE : 0);
		if (!ret)
			EQUAL(fi_close(fid), 0);
		EQUAL(fake_objects, objects);
	}
}

ssize_t send_number(struct fid_ep *ep, uintptr_t number)
{
	return fi_send(ep, NULL, 0, NULL, FI_ADDR_UNSPEC, NUMBER(number));
}

static ssize_t send_flags(struct fid_ep *ep, uintptr_t number, uint64_t flags)
{
	struct fi_msg msg = {.context = NUMBER(number)};

	return fi_sendmsg(ep, &msg, flags);
}

/* Without FI_COMPLETION: quiet where completions are selective. */
ssize_t send_quietly(struct fid_ep *ep, uintptr_t number)
{
	return send_flags(ep, number, 0);
}

ssize_t send_more(struct fid_ep *ep, uintptr_t number)
{
	return send_flags(ep, number, FI_MORE | FI_COMPLETION);
}

ssize_t recv_number(struct fid_ep *ep, uintptr_t number)
{
	return fi_recv(ep, NULL, 0, NULL, FI_ADDR_UNSPEC, NUMBER(number));
}
