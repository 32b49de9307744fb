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

	CT_EXPECT_EQ(fi_eq_write(&eq->fid, FI_NOTIFY, &entry, sizeof(entry), 0), sizeof(entry));
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

	CT_EXPECT_EQ(fi_eq_read(&eq->fid, &event, &entry, sizeof(entry), 0), sizeof(entry));
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
