/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues, in one process. */
#include "eq.h"

static const struct fct_case cases[] = {
	{"sizes", "sizes 0 to 65536", eq_sizes},
	{"many", "many queues at once", eq_many},
	{"wait_objects", "wait objects NONE, UNSPEC and FD", eq_wait_objects},
	{"unspec_fd", "FI_WAIT_UNSPEC yields a file descriptor (ofi_rxm needs one)",
	 eq_unspec_fd},
	{"empty", "reading from an empty queue is -FI_EAGAIN", eq_empty},
	{"write_read", "events come out as and in the order they went in", eq_write_read},
	{"peek", "FI_PEEK leaves the event where it is", eq_peek},
	{"too_small", "a buffer too small is -FI_ETOOSMALL and costs no event",
	 eq_too_small},
	{"no_write", "without FI_WRITE fi_eq_write is refused", eq_no_write},
	{"overrun", "more events than the size: kept or refused, never lost", eq_overrun},
	{"strerror", "fi_eq_strerror has a text", eq_strerror},
	{"sread_timeout", "fi_eq_sread waits as long as told", eq_sread_timeout},
	{"sread_wakes", "fi_eq_write wakes a thread in fi_eq_sread without timeout",
	 eq_sread_wakes},
	{"sread_peek", "the same with FI_PEEK, as ofi_rxm does", eq_sread_peek},
	{"fd", "the descriptor is readable if, and only if, there is an event", eq_fd},
	{"close_busy", "a queue in use cannot be closed", eq_close_busy},
	{"close_ep", "closing an endpoint removes its events", eq_close_ep},
};

int eq_open(struct eq_bed *b, struct fct *t, enum fi_wait_obj wait, size_t size)
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

int eq_close(struct eq_bed *b, int ret)
{
	struct fct *t = b->t;

	if (b->eq && fi_close(&b->eq->fid))
		ret = fct_fail_at(t, __FILE__, __LINE__, "fi_close of the EQ");
	if (b->fabric && fi_close(&b->fabric->fid))
		ret = fct_fail_at(t, __FILE__, __LINE__, "fi_close of the fabric");
	fi_freeinfo(b->info);
	return ret;
}

int eq_put(struct eq_bed *b, uint64_t data)
{
	struct fi_eq_entry entry = {.fid = &b->eq->fid, .context = b, .data = data};
	struct fct *t = b->t;
	int ret;

	FCT_EQ(t, fi_eq_write(b->eq, FI_NOTIFY, &entry, sizeof(entry), 0), sizeof(entry));
	ret = 0;
out:
	return ret;
}

int eq_get(struct eq_bed *b, uint64_t data, uint64_t flags)
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

int eq_none(struct eq_bed *b)
{
	struct fi_eq_entry entry;
	struct fct *t = b->t;
	uint32_t event;
	int ret;

	FCT_ERR(t, fi_eq_read(b->eq, &event, &entry, sizeof(entry), 0), -FI_EAGAIN);
out:
	return ret;
}

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_eq",
		.what = "Event queues.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
		.single = true,
	};

	return fct_main(argc, argv, &prog);
}
