/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/eq.h>
#include "cairn_test.h"

static struct fi_provider prov = {.name = "test"};
static struct fid object, other;

static struct crn_eq *open_eq(enum fi_wait_obj wait_obj, size_t size, uint64_t flags)
{
	struct fi_eq_attr attr = {.size = size, .flags = flags, .wait_obj = wait_obj};
	struct crn_eq *eq = malloc(sizeof(*eq));

	CT_EXPECT_EQ(crn_eq_init(eq, &prov, &attr, &object, NULL), 0);
	return eq;
}

static void close_eq(struct crn_eq *eq)
{
	CT_EXPECT_EQ(fi_close(&eq->fid.fid), 0);
	free(eq);
}

static void write_number(struct crn_eq *eq, uint64_t number)
{
	struct fi_eq_entry entry = {.data = number};

	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &entry, sizeof(entry), 0),
		     sizeof(entry));
}

static void insert_number(struct crn_eq *eq, fid_t fid, uint64_t number)
{
	struct fi_eq_entry entry = {.fid = fid, .data = number};

	CT_EXPECT_EQ(crn_eq_insert(eq, FI_JOIN_COMPLETE, fid, &entry, sizeof(entry)), 0);
}

static void expect_number(struct crn_eq *eq, uint64_t number)
{
	struct fi_eq_entry entry = {0};
	uint32_t event;

	CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.data, number);
}

static ssize_t read_any(struct crn_eq *eq, uint64_t flags)
{
	uint64_t buf[16];
	uint32_t event;

	return fi_eq_read(&eq->fid, &event, buf, sizeof(buf), flags);
}

static bool readable(struct crn_eq *eq)
{
	struct pollfd pollfd = {.events = POLLIN};

	CT_EXPECT_EQ(fi_control(&eq->fid.fid, FI_GETWAIT, &pollfd.fd), 0);
	return poll(&pollfd, 1, 0) == 1;
}

CT_TEST(eq, events_are_read_in_the_order_they_were_written)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, FI_WRITE);
	uint64_t i;

	CT_EXPECT_EQ(read_any(eq, 0), -FI_EAGAIN);
	for (i = 0; i < 10; i++)
		write_number(eq, i);
	for (i = 0; i < 10; i++)
		expect_number(eq, i);
	CT_EXPECT_EQ(read_any(eq, 0), -FI_EAGAIN);
	close_eq(eq);
}

CT_TEST(eq, a_peek_leaves_the_event_and_the_wait_object_as_they_are)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);

	write_number(eq, 7);
	CT_EXPECT_EQ(read_any(eq, FI_PEEK), sizeof(struct fi_eq_entry));
	CT_EXPECT_TRUE(readable(eq));
	CT_EXPECT_EQ(read_any(eq, FI_PEEK), sizeof(struct fi_eq_entry));
	expect_number(eq, 7);
	CT_EXPECT_FALSE(readable(eq));
	close_eq(eq);
}

CT_TEST(eq, a_buffer_too_small_leaves_the_event)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);
	struct fi_eq_entry entry;
	uint32_t event = 99;

	write_number(eq, 7);
	CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &entry, sizeof(entry) - 1, 0),
		     -FI_ETOOSMALL);
	CT_EXPECT_EQ(event, 99);
	CT_EXPECT_TRUE(readable(eq));
	CT_EXPECT_EQ(fi_eq_sread(&eq->fid, &event, &entry, 0, -1, 0), -FI_ETOOSMALL);
	expect_number(eq, 7);
	close_eq(eq);
}

/* fi_eq(3): connection data is limited to the buffer space given to fi_eq_read. */
CT_TEST(eq, connection_data_is_cut_to_the_room_behind_the_entry)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, 0);
	static const uint32_t events[] = {FI_CONNREQ, FI_CONNECTED, FI_SHUTDOWN};
	union {
		struct fi_eq_cm_entry entry;
		char bytes[sizeof(struct fi_eq_cm_entry) + 8];
	} in = {.entry.fid = &other}, out;
	size_t i, room;
	uint32_t event;

	memcpy(in.entry.data, "12345678", 8);
	for (i = 0; i < CRN_COUNT(events); i++) {
		for (room = 0; room <= 8; room += 4) {
			CT_NOTE("event %u, room for %zu bytes", events[i], room);
			memset(&out, 0, sizeof(out));
			CT_EXPECT_EQ(crn_eq_insert(eq, events[i], &other, &in,
						   sizeof(in)),
				     0);
			CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &out,
						sizeof(struct fi_eq_cm_entry) - 1, 0),
				     -FI_ETOOSMALL);
			CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &out,
						sizeof(struct fi_eq_cm_entry) + room, 0),
				     sizeof(struct fi_eq_cm_entry) + room);
			CT_EXPECT_EQ(event, events[i]);
			CT_EXPECT_MEMEQ(out.entry.data, "12345678", room);
			CT_EXPECT_EQ(read_any(eq, 0), -FI_EAGAIN);
		}
	}
	close_eq(eq);
}

CT_TEST(eq, an_event_may_be_empty_and_need_no_object)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, FI_WRITE);
	uint32_t event = 99;

	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, NULL, 0, 0), 0);
	CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, NULL, 0, 0), 0);
	CT_EXPECT_EQ(event, FI_NOTIFY);
	close_eq(eq);
}

CT_TEST(eq, only_a_queue_opened_with_FI_WRITE_is_written_to)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, 0);
	struct fi_eq_entry entry = {0};

	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &entry, sizeof(entry), 0),
		     -FI_EINVAL);
	CT_EXPECT_EQ(read_any(eq, 0), -FI_EAGAIN);
	close_eq(eq);
}

CT_TEST(eq, a_write_of_more_than_memory_can_hold_is_refused)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, FI_WRITE);
	struct fi_eq_entry entry = {0};

	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &entry, SIZE_MAX, 0), -FI_EINVAL);
	close_eq(eq);
}

CT_TEST(eq, an_error_blocks_what_follows_until_it_is_read)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);
	struct fi_eq_err_entry err = {.fid = &other,
				      .context = &object,
				      .data = 5,
				      .err = FI_ECONNREFUSED,
				      .prov_errno = 8};
	struct fi_eq_err_entry got = {0};

	CT_EXPECT_EQ(fi_eq_readerr(&eq->fid, &got, 0), -FI_EAGAIN);
	write_number(eq, 1);
	CT_EXPECT_EQ(fi_eq_readerr(&eq->fid, &got, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_eq_insert_err(eq, &err), 0);
	write_number(eq, 2);

	expect_number(eq, 1);
	CT_EXPECT_EQ(read_any(eq, 0), -FI_EAVAIL);
	CT_EXPECT_EQ(read_any(eq, FI_PEEK), -FI_EAVAIL);
	CT_EXPECT_TRUE(readable(eq));
	CT_EXPECT_EQ(fi_eq_readerr(&eq->fid, &got, FI_PEEK), sizeof(got));
	got = (struct fi_eq_err_entry){0};
	CT_EXPECT_EQ(fi_eq_readerr(&eq->fid, &got, 0), sizeof(got));
	CT_EXPECT_EQ(got.fid, &other);
	CT_EXPECT_EQ(got.context, &object);
	CT_EXPECT_EQ(got.data, 5);
	CT_EXPECT_EQ(got.err, FI_ECONNREFUSED);
	CT_EXPECT_EQ(got.prov_errno, 8);
	CT_EXPECT_EQ(got.err_data, NULL);
	CT_EXPECT_EQ(got.err_data_size, 0);
	expect_number(eq, 2);
	CT_EXPECT_FALSE(readable(eq));
	close_eq(eq);
}

static void insert_err_data(struct crn_eq *eq, const char *data)
{
	struct fi_eq_err_entry err = {.fid = &other,
				      .err = FI_EOTHER,
				      .err_data_size = strlen(data)};

	err.err_data = (void *)(uintptr_t)data;
	CT_EXPECT_EQ(crn_eq_insert_err(eq, &err), 0);
}

/* fi_eq(3), err_data_size */
CT_TEST(eq, error_data_goes_to_the_readers_buffer_or_stays_with_the_queue)
{
	static const struct {
		const char *name;
		uint32_t api_version;
		size_t size;
		bool own; /* the queue's memory is given */
		size_t given;
	} rows[] = {
		{"no buffer", FI_VERSION(1, 17), 0, true, 6},
		{"small buffer", FI_VERSION(1, 17), 4, false, 4},
		{"exact buffer", FI_VERSION(1, 5), 6, false, 6},
		{"large buffer", FI_VERSION(1, 5), 16, false, 6},
		{"old interface, size not set by the caller", FI_VERSION(1, 4), 777, true,
		 6},
	};
	struct fi_eq_err_entry err;
	char buf[16];
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, 0);

		CT_NOTE("%s", rows[i].name);
		eq->api_version = rows[i].api_version;
		insert_err_data(eq, "reason");
		memset(buf, 'x', sizeof(buf));
		err = (struct fi_eq_err_entry){.err_data = buf,
					       .err_data_size = rows[i].size};
		CT_EXPECT_EQ(fi_eq_readerr(&eq->fid, &err, 0), sizeof(err));
		CT_EXPECT_EQ(err.err_data == buf, !rows[i].own);
		CT_EXPECT_EQ(err.err_data_size, rows[i].given);
		CT_EXPECT_MEMEQ(err.err_data, "reason", rows[i].given);
		CT_EXPECT_EQ(buf[rows[i].own ? 0 : rows[i].given], 'x');
		close_eq(eq);
	}
}

CT_TEST(eq, error_data_of_the_queue_stays_valid_until_the_next_error_is_read)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, FI_WRITE);
	struct fi_eq_err_entry first = {0}, second = {0}, peeked = {0};

	insert_err_data(eq, "first");
	insert_err_data(eq, "second");
	CT_EXPECT_EQ(fi_eq_readerr(&eq->fid, &peeked, FI_PEEK), sizeof(peeked));
	CT_EXPECT_MEMEQ(peeked.err_data, "first", 5);
	CT_EXPECT_EQ(fi_eq_readerr(&eq->fid, &first, 0), sizeof(first));
	CT_EXPECT_EQ(read_any(eq, 0), -FI_EAVAIL);
	CT_EXPECT_MEMEQ(first.err_data, "first", 5);
	CT_EXPECT_EQ(fi_eq_readerr(&eq->fid, &second, 0), sizeof(second));
	CT_EXPECT_MEMEQ(second.err_data, "second", 6);
	close_eq(eq);
}

CT_TEST(eq, the_descriptor_is_readable_exactly_while_there_is_something_to_read)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);
	struct fi_eq_err_entry err = {.err = FI_EOTHER};

	CT_EXPECT_EQ(crn_eq_trywait(eq), 0);
	CT_EXPECT_FALSE(readable(eq));
	write_number(eq, 1);
	write_number(eq, 2);
	CT_EXPECT_EQ(crn_eq_trywait(eq), -FI_EAGAIN);
	CT_EXPECT_TRUE(readable(eq));
	expect_number(eq, 1);
	CT_EXPECT_TRUE(readable(eq));
	expect_number(eq, 2);
	CT_EXPECT_EQ(crn_eq_trywait(eq), 0);
	CT_EXPECT_FALSE(readable(eq));

	CT_EXPECT_EQ(crn_eq_insert_err(eq, &err), 0);
	CT_EXPECT_TRUE(readable(eq));
	CT_EXPECT_EQ(fi_eq_readerr(&eq->fid, &err, 0), sizeof(err));
	CT_EXPECT_FALSE(readable(eq));
	close_eq(eq);
}

CT_TEST(eq, forgetting_an_object_drops_its_events_and_no_others)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);
	struct fi_eq_err_entry err = {.fid = &object, .err = FI_EOTHER};

	insert_number(eq, &object, 1);
	insert_number(eq, &other, 2);
	CT_EXPECT_EQ(crn_eq_insert_err(eq, &err), 0);
	insert_number(eq, &object, 3);
	insert_number(eq, NULL, 4);
	crn_eq_forget(eq, &object);
	expect_number(eq, 2);
	expect_number(eq, 4);
	CT_EXPECT_EQ(read_any(eq, 0), -FI_EAGAIN);

	insert_number(eq, &object, 5);
	CT_EXPECT_TRUE(crn_eq_pending(eq));
	crn_eq_forget(eq, &object);
	CT_EXPECT_FALSE(crn_eq_pending(eq));
	CT_EXPECT_FALSE(readable(eq));
	close_eq(eq);
}

static void insert_connreq(struct crn_eq *eq)
{
	struct fi_eq_cm_entry entry = {.fid = &object, .info = fi_allocinfo()};

	CT_EXPECT_EQ(crn_eq_insert(eq, FI_CONNREQ, &object, &entry, sizeof(entry)), 0);
}

/* A leak checker is what fails here. */
CT_TEST(eq, the_info_of_a_connection_request_has_one_owner_at_a_time)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, FI_WRITE);
	struct fi_eq_cm_entry entry, peeked;
	uint32_t event;

	insert_connreq(eq);
	CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &peeked, sizeof(peeked), FI_PEEK),
		     sizeof(peeked));
	CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.info, peeked.info);
	fi_freeinfo(entry.info);

	insert_connreq(eq);
	crn_eq_forget(eq, &object);

	/* One written by the application stays the application's. */
	entry.info = fi_allocinfo();
	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_CONNREQ, &entry, sizeof(entry), 0),
		     sizeof(entry));
	insert_connreq(eq);
	close_eq(eq);
	fi_freeinfo(entry.info);
}

CT_TEST(eq, holds_well_more_than_its_size_but_not_without_end)
{
	static const size_t sizes[] = {0, 1, 64, 1000};
	size_t i;

	for (i = 0; i < CRN_COUNT(sizes); i++) {
		struct crn_eq *eq = open_eq(FI_WAIT_NONE, sizes[i], FI_WRITE);
		size_t count = 0;

		CT_NOTE("size %zu", sizes[i]);
		while (count < 1000000 &&
		       fi_eq_write(&eq->fid, FI_NOTIFY, &count, sizeof(count), 0) > 0)
			count++;
		CT_EXPECT_GE(count, 256);
		CT_EXPECT_GE(count, 4 * sizes[i]);
		CT_EXPECT_LT(count, 1000000);
		CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &count, sizeof(count), 0),
			     -FI_EAGAIN);
		CT_EXPECT_TRUE(crn_eq_full(eq));
		CT_EXPECT_STRSTR(ct_log_last(), "fi_eq_read");
		CT_EXPECT_EQ(read_any(eq, 0), sizeof(count));
		CT_EXPECT_FALSE(crn_eq_full(eq));
		CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &count, sizeof(count), 0),
			     sizeof(count));
		close_eq(eq);
	}
}

CT_TEST(eq, a_huge_size_is_a_bound_and_no_allocation)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, SIZE_MAX, FI_WRITE);

	write_number(eq, 1);
	expect_number(eq, 1);
	close_eq(eq);
}

CT_TEST(eq, sread_times_out_with_EAGAIN)
{
	struct crn_eq *eq = open_eq(FI_WAIT_UNSPEC, 0, 0);
	uint64_t start = crn_now_ms(), buf;
	uint32_t event;

	CT_EXPECT_EQ(fi_eq_sread(&eq->fid, &event, &buf, sizeof(buf), 0, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_eq_sread(&eq->fid, &event, &buf, sizeof(buf), 50, 0), -FI_EAGAIN);
	CT_EXPECT_GE(crn_now_ms() - start, 50);
	close_eq(eq);
}

CT_TEST(eq, sread_without_a_wait_object_is_refused_rather_than_hanging)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, FI_WRITE);
	uint64_t buf[8];
	uint32_t event;

	CT_EXPECT_EQ(fi_eq_sread(&eq->fid, &event, buf, sizeof(buf), -1, 0), -FI_ENOSYS);
	write_number(eq, 1);
	CT_EXPECT_EQ(fi_eq_sread(&eq->fid, &event, buf, sizeof(buf), -1, 0), -FI_ENOSYS);
	expect_number(eq, 1);
	close_eq(eq);
}

/* A provider with a source of its own: an eventfd, whose count is an event. */
struct source_eq {
	struct crn_eq eq;
	int fd;
	int result;
};

static int source_progress(struct crn_eq *eq)
{
	struct source_eq *source = crn_container_of(eq, struct source_eq, eq);
	eventfd_t count;

	if (source->result || eventfd_read(source->fd, &count))
		return source->result;
	insert_number(eq, &object, count);
	return 0;
}

static void source_open(struct source_eq *source)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};

	source->fd = eventfd(0, EFD_NONBLOCK);
	source->result = 0;
	CT_EXPECT_EQ(crn_eq_init(&source->eq, &prov, &attr, NULL, source_progress), 0);
	CT_EXPECT_EQ(crn_wait_add_fd(&source->eq.wait, source->fd), 0);
}

static void source_close(struct source_eq *source)
{
	crn_wait_del_fd(&source->eq.wait, source->fd);
	close(source->fd);
	crn_eq_fini(&source->eq);
}

CT_TEST(eq, a_source_of_the_provider_is_read_and_wakes_like_an_event)
{
	struct source_eq source;
	struct fi_eq_entry entry;
	uint32_t event;

	source_open(&source);
	CT_EXPECT_EQ(crn_eq_trywait(&source.eq), 0);
	CT_EXPECT_FALSE(readable(&source.eq));
	eventfd_write(source.fd, 5);
	CT_EXPECT_TRUE(readable(&source.eq));
	CT_EXPECT_EQ(crn_eq_trywait(&source.eq), -FI_EAGAIN);
	expect_number(&source.eq, 5);
	CT_EXPECT_EQ(crn_eq_trywait(&source.eq), 0);

	eventfd_write(source.fd, 6);
	CT_EXPECT_EQ(fi_eq_sread(&source.eq.fid, &event, &entry, sizeof(entry), -1, 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.data, 6);
	source_close(&source);
}

CT_TEST(eq, an_error_of_progress_reaches_a_reader_who_finds_nothing_else)
{
	struct source_eq source;
	struct fi_eq_entry entry;
	uint32_t event;

	source_open(&source);
	insert_number(&source.eq, &object, 1);
	source.result = -FI_EIO;
	expect_number(&source.eq, 1);
	CT_EXPECT_EQ(read_any(&source.eq, 0), -FI_EIO);
	CT_EXPECT_EQ(fi_eq_sread(&source.eq.fid, &event, &entry, sizeof(entry), -1, 0),
		     -FI_EIO);
	CT_EXPECT_EQ(crn_eq_trywait(&source.eq), -FI_EAGAIN);

	source.result = -FI_EAGAIN;
	CT_EXPECT_EQ(read_any(&source.eq, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_eq_trywait(&source.eq), 0);
	source_close(&source);
}

CT_TEST(eq, strerror_knows_errno_fabric_and_odd_codes)
{
	static const int codes[] = {EINVAL, -EINVAL, FI_EAVAIL, -FI_ETRUNC,
				    0,	    INT_MAX, INT_MIN};
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, 0);
	char buf[64], small[4];
	size_t i;

	for (i = 0; i < CRN_COUNT(codes); i++) {
		CT_NOTE("code %d", codes[i]);
		CT_EXPECT_NE(fi_eq_strerror(&eq->fid, codes[i], NULL, NULL, 0), NULL);
		CT_EXPECT_EQ(fi_eq_strerror(&eq->fid, codes[i], NULL, buf, sizeof(buf)),
			     buf);
		CT_EXPECT_GT(strlen(buf), 0);
	}
	CT_EXPECT_STREQ(fi_eq_strerror(&eq->fid, -EINVAL, NULL, NULL, 0),
			fi_strerror(EINVAL));
	CT_EXPECT_EQ(fi_eq_strerror(&eq->fid, EINVAL, NULL, small, sizeof(small)), small);
	CT_EXPECT_EQ(strlen(small), sizeof(small) - 1);
	close_eq(eq);
}

CT_TEST(eq, the_wait_object_is_told_by_control)
{
	struct crn_eq *none = open_eq(FI_WAIT_NONE, 0, 0);
	struct crn_eq *unspec = open_eq(FI_WAIT_UNSPEC, 0, 0);
	enum fi_wait_obj obj;
	int fd = -1;

	CT_EXPECT_EQ(fi_control(&none->fid.fid, FI_GETWAIT, &fd), -FI_ENODATA);
	CT_EXPECT_EQ(fi_control(&none->fid.fid, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_NONE);
	CT_EXPECT_EQ(fi_control(&unspec->fid.fid, FI_GETWAIT, &fd), 0);
	CT_EXPECT_GE(fd, 0);
	CT_EXPECT_EQ(fi_control(&unspec->fid.fid, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_FD);
	CT_EXPECT_EQ(fi_control(&unspec->fid.fid, FI_ENABLE, NULL), -FI_ENOSYS);
	close_eq(none);
	close_eq(unspec);
}

CT_TEST(eq, is_an_fid_of_its_class_with_the_context_given)
{
	struct crn_eq eq;

	CT_EXPECT_EQ(crn_eq_init(&eq, &prov, NULL, &other, NULL), 0);
	CT_EXPECT_EQ(eq.fid.fid.fclass, FI_CLASS_EQ);
	CT_EXPECT_EQ(eq.fid.fid.context, &other);
	CT_EXPECT_EQ(fi_close(&eq.fid.fid), 0);
}

CT_TEST(eq, attributes_that_are_not_offered_are_refused)
{
	static const struct {
		const char *name;
		struct fi_eq_attr attr;
		int ret;
	} rows[] = {
		{"unknown flag", {.flags = FI_READ}, -FI_EINVAL},
		{"wait set", {.wait_obj = FI_WAIT_SET}, -FI_ENOSYS},
		{"mutex", {.wait_obj = FI_WAIT_MUTEX_COND}, -FI_ENOSYS},
		{"yield", {.wait_obj = FI_WAIT_YIELD}, -FI_ENOSYS},
		{"affinity", {.flags = FI_AFFINITY, .signaling_vector = 1}, 0},
	};
	struct crn_eq eq;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		struct fi_eq_attr attr = rows[i].attr;

		CT_NOTE("%s", rows[i].name);
		CT_EXPECT_EQ(crn_eq_init(&eq, &prov, &attr, NULL, NULL), rows[i].ret);
		if (!rows[i].ret)
			crn_eq_fini(&eq);
	}
}

CT_TEST(eq, running_out_of_memory_takes_nothing)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);
	struct fi_eq_err_entry err = {.err = FI_EOTHER};
	struct fi_eq_entry entry = {0};

	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_insert(eq, FI_NOTIFY, NULL, &entry, sizeof(entry)),
		     -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_eq_insert_err(eq, &err), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	ct_fail_alloc(1);
	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &entry, sizeof(entry), 0),
		     -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_FALSE(crn_eq_pending(eq));
	CT_EXPECT_FALSE(readable(eq));
	close_eq(eq);
}

CT_TEST(eq, running_out_of_descriptors_leaves_none_behind)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	struct crn_eq eq;
	unsigned int left;

	for (left = 0; left < 2; left++) {
		CT_NOTE("%u descriptors left", left);
		ct_fds_left(left);
		CT_EXPECT_EQ(crn_eq_init(&eq, &prov, &attr, NULL, NULL), -FI_EMFILE);
		CT_EXPECT_EQ(crn_eq_init(&eq, &prov, &attr, NULL, NULL), -FI_EMFILE);
		ct_fds_restore();
	}
	ct_fds_left(2);
	CT_EXPECT_EQ(crn_eq_init(&eq, &prov, &attr, NULL, NULL), 0);
	crn_eq_fini(&eq);
	ct_fds_restore();
}
