/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the cases: queues, writing and reading entries. */
#include "eq.h"

int fct_eq_open(struct eq_bed *b, struct fct *t, enum fi_wait_obj wait, size_t size)
{
	struct fi_eq_attr attr = {.size = size, .flags = FI_WRITE, .wait_obj = wait};
	struct fct_setup s = {.caps = FI_MSG};
	int ret;

	memset(b, 0, sizeof(*b));
	b->t = t;
	FCT_CALL(t, fct_getinfo(t, &s, NULL, "0", &b->info));
	FCT_CALL(t, fi_fabric(b->info->fabric_attr, &b->fabric, NULL));
	FCT_CALL(t, fi_eq_open(b->fabric, &attr, &b->eq, b));
	FCT_TRUE(t, b->eq->fid.context == b);
out:
	return ret;
}

int fct_eq_close(struct eq_bed *b, int ret)
{
	struct fct *t = b->t;

	if (b->eq && fi_close(&b->eq->fid))
		ret = fct_fail_at(t, __FILE__, __LINE__, "fi_close of the EQ");
	if (b->fabric && fi_close(&b->fabric->fid))
		ret = fct_fail_at(t, __FILE__, __LINE__, "fi_close of the fabric");
	fi_freeinfo(b->info);
	return ret;
}

int fct_eq_put(struct eq_bed *b, uint64_t data)
{
	struct fi_eq_entry entry = {.fid = &b->eq->fid, .context = b, .data = data};
	struct fct *t = b->t;
	int ret;

	FCT_EQ(t, fi_eq_write(b->eq, FI_NOTIFY, &entry, sizeof(entry), 0), sizeof(entry));
	ret = 0;
out:
	return ret;
}

int fct_eq_get(struct eq_bed *b, uint64_t data, uint64_t flags)
{
	struct fi_eq_entry entry = {0};
	struct fct *t = b->t;
	uint32_t event = 0;
	int ret;

	FCT_EQ(t, fi_eq_read(b->eq, &event, &entry, sizeof(entry), flags), sizeof(entry));
	FCT_EQ(t, event, FI_NOTIFY);
	FCT_TRUE(t, entry.fid == &b->eq->fid && entry.context == b);
	FCT_EQ(t, entry.data, data);
	ret = 0;
out:
	return ret;
}

int fct_eq_none(struct eq_bed *b)
{
	struct fi_eq_entry entry;
	struct fct *t = b->t;
	uint32_t event;
	int ret;

	FCT_ERR(t, fi_eq_read(b->eq, &event, &entry, sizeof(entry), 0), -FI_EAGAIN);
out:
	return ret;
}
