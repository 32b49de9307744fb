/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions that the other end reads and writes by the lower provider, and their end. */
#include "ends.h"

#define LEN 100000

static struct ends ends;
static struct fid_ep *active, *passive;
static struct fi_info *request;
static struct fid_mr *mr;
static uint8_t memory[LEN], from[LEN];

static void close_if(struct fid *fid)
{
	if (fid)
		CT_EXPECT_EQ(fi_close(fid), 0);
}

static void end(struct ends **t)
{
	close_if(active ? &active->fid : NULL);
	close_if(passive ? &passive->fid : NULL);
	close_if(mr ? &mr->fid : NULL);
	fi_freeinfo(request);
	ends_close(&ends);
	active = passive = NULL;
	mr = NULL;
	request = NULL;
}

/* bypass: of who accepts. */
static void begin(bool bypass)
{
	struct ends_event event;

	ends_config("router = tcp://127.0.0.1:1\n", "");
	ends_open(&ends);
	ends_listen(&ends);
	active = ends_ep(&ends, ends.info);
	CT_ASSERT_EQ(ends_connect(active, &ends.target, NULL, 0), 0);
	CT_ASSERT_TRUE(ends_expect(&ends, FI_CONNREQ, &ends.pep->fid, &event));
	request = event.cm.info;
	rte_params.bypass = bypass;
	passive = ends_ep(&ends, request);
	rte_params.bypass = true;
	CT_ASSERT_EQ(fi_accept(passive, NULL, 0), 0);
	CT_ASSERT_TRUE(ends_expect(&ends, FI_CONNECTED, &active->fid, &event));
	CT_ASSERT_TRUE(ends_expect(&ends, FI_CONNECTED, &passive->fid, &event));
	CT_ASSERT_EQ(fi_mr_reg(ends.domain, memory, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE,
			       0, 1, 0, &mr, NULL),
		     0);
	memset(memory, 0, LEN);
	memset(from, 7, LEN);
}

CT_FIXTURE(bypass, struct ends *, NULL, end);

/* FI_E* of the next completion; 0: a success. */
static int completion(void)
{
	const uint64_t until = crn_now_ms() + 20000;
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry entry;
	ssize_t ret;

	do
		ret = fi_cq_read(ends.cq, &entry, 1);
	while (ret == -FI_EAGAIN && crn_now_ms() < until);
	if (ret != -FI_EAVAIL)
		return ret == 1 ? 0 : FI_ETIMEDOUT;
	CT_EXPECT_EQ(fi_cq_readerr(ends.cq, &err, 0), 1);
	return err.err;
}

static int write_one(size_t len, uint64_t key)
{
	CT_EXPECT_EQ(fi_write(active, from, len, NULL, 0, 0, key, NULL), 0);
	return completion();
}

static int read_one(void)
{
	CT_EXPECT_EQ(fi_read(active, from, LEN, NULL, 0, 0, fi_mr_key(mr), NULL), 0);
	return completion();
}

static bool lent(void)
{
	return !crn_list_empty(&rte_ep_of(passive)->vc.loans);
}

static void writes(void)
{
	int i;

	for (i = 0; i < 10; i++)
		CT_EXPECT_EQ(write_one(LEN, fi_mr_key(mr)), 0);
}

CT_TEST_F(bypass, bytes_come_and_go)
{
	begin(true);
	CT_EXPECT_FALSE(lent());
	writes();
	CT_EXPECT_TRUE(lent());
	CT_EXPECT_EQ(read_one(), 0);
	CT_EXPECT_MEMEQ(memory, from, LEN);
	memset(memory, 9, LEN);
	CT_EXPECT_EQ(read_one(), 0);
	CT_EXPECT_MEMEQ(memory, from, LEN);
}

CT_TEST_F(bypass, not_where_one_end_does_without)
{
	begin(false);
	writes();
	CT_EXPECT_FALSE(lent());
	CT_EXPECT_EQ(read_one(), 0);
	CT_EXPECT_MEMEQ(memory, from, LEN);
}

CT_TEST_F(bypass, a_region_that_has_closed_refuses)
{
	struct ends_event event;
	uint64_t key;

	begin(true);
	writes();
	key = fi_mr_key(mr);
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
	mr = NULL;
	CT_EXPECT_FALSE(lent());
	memset(memory, 0, LEN);
	CT_EXPECT_EQ(write_one(10, key), FI_EKEYREJECTED);
	CT_EXPECT_EQ(memory[0], 0);
	CT_EXPECT_TRUE(ends_expect(&ends, FI_SHUTDOWN, &active->fid, &event));
}

CT_TEST_F(bypass, who_does_not_give_a_region_back_is_left)
{
	struct ends_event event;

	begin(true);
	writes();
	/* As if the lower provider never ended one. */
	rte_ep_of(active)->vc.straight++;
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
	mr = NULL;
	rte_ep_of(active)->vc.straight--;
	CT_EXPECT_TRUE(ends_expect(&ends, FI_SHUTDOWN, &passive->fid, &event));
	CT_EXPECT_TRUE(ends_expect(&ends, FI_SHUTDOWN, &active->fid, &event));
}

/* What was written just before may still be on its way. */
CT_TEST_F(bypass, a_region_outlives_what_comes_to_it)
{
	struct rte_port *port;
	int i;

	begin(true);
	writes();
	port = rte_ep_of(passive)->device->port;
	for (i = 0; i < 10; i++)
		CT_EXPECT_EQ(fi_write(active, from, LEN, NULL, 0, 0, fi_mr_key(mr), NULL),
			     0);
	CT_EXPECT_EQ(fi_close(&passive->fid), 0);
	passive = NULL;
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
	mr = NULL;
	CT_EXPECT_FALSE(rte_port_lent(port));
	for (i = 0; i < 10; i++)
		completion();
}
