/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/sa/sa_umad.c and sa_wait.c. */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "fake_umad.h"

static struct pvb_umad umad;
static int answers;
static struct pvb_sa_answer answer;

static void note(void *arg, const struct pvb_sa_answer *given)
{
	answers++;
	answer = *given;
}

static void ignore(void *arg, const struct pvb_notice *notice)
{
}

static const struct pvb_sa_request get = {.method = PVB_SA_GET,
					  .attr = PVB_SA_MCMEMBER_RECORD,
					  .wait_ms = 8000,
					  .tries = 1,
					  .done = note};

static int open_port(const char *ca, int port)
{
	const struct pvb_umad_config config = {.ca = ca, .port = port, .notice = ignore};

	answers = 0;
	return pvb_umad_open(&umad, &config);
}

static void begin(void)
{
	fake_reset();
	CT_ASSERT_EQ(open_port(NULL, 0), 0);
}

/* Opening fails, leaves nothing open, and the error names data. */
static void expect_refused(int err, const char *data)
{
	CT_EXPECT_EQ(open_port(NULL, 0), err);
	CT_EXPECT_DATA(umad.error, data);
	CT_EXPECT_EQ(fake.opened, fake.closed);
}

/* The answer to the last request, with a status. */
static void answer_it(const struct fake_mad *sent)
{
	uint8_t mad[PVB_MAD_SIZE];
	struct pvb_sa_hdr hdr;

	CT_ASSERT_EQ(pvb_sa_unpack(sent->data, sizeof(sent->data), &hdr), 0);
	hdr.method = PVB_SA_GET | PVB_SA_RESPONSE;
	hdr.status = PVB_SA_NO_RECORDS;
	/* The kernel's half. */
	hdr.tid |= 5ull << 32;
	pvb_sa_pack(mad, &hdr);
	fake_arrive(mad, 0);
}

CT_TEST(sa_umad, a_port_that_is_opened_says_what_it_is)
{
	static const uint8_t gid[16] = {0xfe, 0x80, [13] = 0x10, [15] = 1};

	begin();
	CT_EXPECT_EQ(strcmp(umad.port.ca, "fake0"), 0);
	CT_EXPECT_EQ(umad.port.number, 1);
	CT_EXPECT_EQ(umad.port.active, true);
	CT_EXPECT_EQ(umad.port.lid, 7);
	CT_EXPECT_EQ(umad.port.sm_lid, 1);
	CT_EXPECT_EQ(memcmp(umad.port.gid, gid, sizeof(gid)), 0);
	CT_EXPECT_EQ(umad.reports, true);
	pvb_umad_close(&umad);
	CT_EXPECT_EQ(fake.closed, 1);
}

CT_TEST(sa_umad, R4_partitions_are_those_of_the_ports_table)
{
	begin();
	CT_EXPECT_EQ(pvb_umad_pkey(&umad, 0x0008), 0x8008);
	CT_EXPECT_EQ(pvb_umad_pkey(&umad, 0x8009), 0x0009);
	CT_EXPECT_EQ(pvb_umad_pkey(&umad, 0x000a), 0);
	CT_EXPECT_EQ(pvb_umad_pkey(&umad, 0), 0);
	pvb_umad_close(&umad);
}

CT_TEST(sa_umad, R33_without_permission_it_says_what_is_missing)
{
	fake_reset();
	fake.open_errno = EACCES;
	expect_refused(-FI_EACCES, "/dev/infiniband/umad");
	fake.open_errno = EPERM;
	expect_refused(-FI_EACCES, "/dev/infiniband/umad");
}

CT_TEST(sa_umad, what_cannot_be_opened_says_why)
{
	fake_reset();
	fake.open_errno = ENOENT;
	expect_refused(-FI_ENODEV, "ib_umad");
	fake_reset();
	fake.port.sm_lid = 0;
	expect_refused(-FI_ENETDOWN, "fake0");
	fake_reset();
	strcpy(fake.port.link_layer, "Ethernet");
	expect_refused(-FI_ENODEV, "Ethernet");
	fake_reset();
	CT_EXPECT_EQ(open_port("other0", 2), -FI_ENODEV);
	CT_EXPECT_DATA(umad.error, "other0 port 2");
}

CT_TEST(sa_umad, without_memory_it_says_so)
{
	fake_reset();
	ct_fail_alloc(1);
	expect_refused(-FI_ENOMEM, strerror(ENOMEM));
	CT_EXPECT_TRUE(ct_alloc_failed());
}

CT_TEST(sa_umad, a_shortage_is_not_the_want_of_a_device)
{
	static const int shortages[] = {EMFILE, ENFILE, ENOMEM};
	size_t i;

	for (i = 0; i < CRN_COUNT(shortages); i++) {
		fake_reset();
		fake.open_errno = shortages[i];
		expect_refused(-shortages[i], strerror(shortages[i]));
		fake_reset();
		fake.port_errno = shortages[i];
		expect_refused(-shortages[i], strerror(shortages[i]));
	}
	fake_reset();
	fake.port_errno = ENOENT;
	expect_refused(-FI_ENODEV, "no such InfiniBand port");
}

CT_TEST(sa_umad, another_program_may_have_the_reports_of_a_port)
{
	fake_reset();
	fake.reports_used = true;
	CT_ASSERT_EQ(open_port(NULL, 0), 0);
	CT_EXPECT_EQ(umad.reports, false);
	pvb_umad_close(&umad);
}

CT_TEST(sa_umad, who_has_no_use_for_reports_leaves_them_to_others)
{
	const struct pvb_umad_config config = {0};
	const struct pvb_sa_watch_config watch = {.subscribe = true};

	fake_reset();
	CT_ASSERT_EQ(pvb_umad_open(&umad, &config), 0);
	CT_EXPECT_EQ(fake.agents, 1);
	CT_EXPECT_EQ(fake.reporters, 0);
	CT_EXPECT_EQ(umad.reports, false);
	CT_EXPECT_EQ(pvb_umad_watch(&umad, &watch), -FI_EBUSY);
	pvb_umad_close(&umad);
}

CT_TEST(sa_umad, requests_go_to_the_manager_in_the_default_partition)
{
	const ib_mad_addr_t *addr = &fake.sent[0].addr;

	begin();
	CT_ASSERT_EQ(pvb_sa_ask(&umad.client, &get, pvb_umad_now()), 0);
	CT_ASSERT_EQ(fake.sends, 1);
	CT_EXPECT_EQ(ntohs(addr->lid), 1);
	CT_EXPECT_EQ(ntohl(addr->qpn), 1);
	CT_EXPECT_EQ(ntohl(addr->qkey), 0x80010000);
	CT_EXPECT_EQ(addr->sl, 3);
	CT_EXPECT_EQ(addr->pkey_index, 1);
	pvb_umad_close(&umad);
}

/* ib_umad refuses a request whose number is outstanding, and drops answers that it does
 * not wait for. */
CT_TEST(sa_umad, the_kernel_waits_for_an_answer_until_it_is_asked_for_again)
{
	begin();
	CT_ASSERT_EQ(pvb_sa_ask(&umad.client, &get, pvb_umad_now()), 0);
	CT_EXPECT_EQ(fake.sent[0].timeout_ms > 4000, true);
	CT_EXPECT_EQ(fake.sent[0].timeout_ms < 8000, true);
	pvb_umad_close(&umad);
}

CT_TEST(sa_umad, the_manager_may_move)
{
	begin();
	fake.port.sm_lid = 9;
	CT_EXPECT_EQ(pvb_umad_refresh(&umad), 0);
	CT_ASSERT_EQ(pvb_sa_ask(&umad.client, &get, pvb_umad_now()), 0);
	CT_EXPECT_EQ(ntohs(fake.sent[0].addr.lid), 9);
	pvb_umad_close(&umad);
}

CT_TEST(sa_umad, without_a_manager_nothing_is_sent)
{
	begin();
	fake.port.sm_lid = 0;
	CT_EXPECT_EQ(pvb_umad_refresh(&umad), 0);
	CT_ASSERT_EQ(pvb_sa_ask(&umad.client, &get, pvb_umad_now()), 0);
	CT_EXPECT_EQ(fake.sends, 0);
	CT_EXPECT_EQ(umad.unsent, 1);
	pvb_umad_close(&umad);
	CT_EXPECT_EQ(answer.err, -FI_ECANCELED);
}

CT_TEST(sa_umad, R35_a_manager_that_comes_back_is_found)
{
	struct pvb_sa_request request = get;

	begin();
	fake.port.sm_lid = 0;
	CT_EXPECT_EQ(pvb_umad_refresh(&umad), 0);
	request.wait_ms = 0;
	request.tries = 3;
	CT_ASSERT_EQ(pvb_sa_ask(&umad.client, &request, pvb_umad_now()), 0);
	CT_EXPECT_EQ(pvb_umad_progress(&umad), 0);
	CT_EXPECT_EQ(umad.unsent, 2);
	fake.port.sm_lid = 9;
	CT_EXPECT_EQ(pvb_umad_progress(&umad), 0);
	CT_ASSERT_EQ(fake.sends, 1);
	CT_EXPECT_EQ(ntohs(fake.sent[0].addr.lid), 9);
	pvb_umad_close(&umad);
}

CT_TEST(sa_umad, what_the_kernel_gives_back_is_no_answer)
{
	struct pvb_sa_hdr hdr;
	uint8_t mad[PVB_MAD_SIZE];

	begin();
	CT_ASSERT_EQ(pvb_sa_ask(&umad.client, &get, pvb_umad_now()), 0);
	fake.port.sm_lid = 9;
	/* Whatever its bytes look like. */
	pvb_sa_unpack(fake.sent[0].data, PVB_MAD_SIZE, &hdr);
	hdr.method |= PVB_SA_RESPONSE;
	pvb_sa_pack(mad, &hdr);
	fake_arrive(mad, ETIMEDOUT);
	CT_EXPECT_EQ(pvb_umad_progress(&umad), 0);
	CT_EXPECT_EQ(answers, 0);
	CT_EXPECT_EQ(umad.unanswered, 1);
	/* It may be somewhere else now. */
	CT_EXPECT_EQ(umad.port.sm_lid, 9);
	fake_arrive(mad, 0);
	CT_EXPECT_EQ(pvb_umad_progress(&umad), 0);
	CT_EXPECT_EQ(answers, 1);
	CT_EXPECT_EQ(answer.err, 0);
	pvb_umad_close(&umad);
}

CT_TEST(sa_umad, a_device_that_is_gone_ends_what_is_outstanding)
{
	static const uint8_t any[PVB_MAD_SIZE];

	begin();
	CT_ASSERT_EQ(pvb_sa_ask(&umad.client, &get, pvb_umad_now()), 0);
	fake_arrive(any, 0);
	fake.gone = true;
	CT_EXPECT_EQ(pvb_umad_progress(&umad), -FI_EIO);
	CT_EXPECT_EQ(umad.gone, true);
	CT_EXPECT_EQ(answers, 1);
	CT_EXPECT_EQ(answer.err, -FI_ECANCELED);
	CT_EXPECT_EQ(pvb_umad_progress(&umad), -FI_EIO);
	CT_EXPECT_EQ(pvb_sa_ask(&umad.client, &get, pvb_umad_now()), -FI_EINVAL);
	pvb_umad_close(&umad);
}

CT_TEST(sa_umad, a_program_may_wait_for_an_answer)
{
	struct pvb_sa_reply reply;

	begin();
	fake.on_send = answer_it;
	CT_EXPECT_EQ(pvb_sa_wait(&umad, &get, &reply), 0);
	CT_EXPECT_EQ(reply.status, PVB_SA_NO_RECORDS);
	CT_EXPECT_EQ(reply.len, PVB_SA_DATA_SIZE);
	CT_EXPECT_EQ(answers, 0);
	pvb_sa_reply_free(&reply);
	pvb_umad_close(&umad);
}

CT_TEST(sa_umad, who_waits_is_told_when_none_comes)
{
	struct pvb_sa_request request = get;
	struct pvb_sa_reply reply;

	begin();
	request.wait_ms = 1;
	request.tries = 3;
	CT_EXPECT_EQ(pvb_sa_wait(&umad, &request, &reply), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(reply.data, NULL);
	CT_EXPECT_EQ(fake.sends, 3);
	pvb_umad_close(&umad);
}

CT_TEST(sa_umad, R31_who_has_no_reports_watches_the_manager_alone)
{
	const struct pvb_sa_watch_config config = {
		.subscribe = true, .wait_ms = 10, .tries = 1, .look_ms = 1000};
	struct pvb_sa_hdr hdr;

	fake_reset();
	fake.reports_used = true;
	CT_ASSERT_EQ(open_port(NULL, 0), 0);
	CT_EXPECT_EQ(pvb_umad_watch(&umad, &config), -FI_EBUSY);
	CT_ASSERT_EQ(fake.sends, 1);
	pvb_sa_unpack(fake.sent[0].data, PVB_MAD_SIZE, &hdr);
	CT_EXPECT_EQ(hdr.attr, PVB_SA_SM_INFO_RECORD);
	CT_EXPECT_EQ(pvb_umad_timeout(&umad) <= 10, true);
	pvb_umad_close(&umad);
}

CT_TEST(sa_umad, R35_at_an_event_of_the_device_it_subscribes_at_the_manager_of_now)
{
	const struct pvb_sa_watch_config config = {
		.subscribe = true, .wait_ms = 10, .tries = 1, .again_ms = 1000};

	begin();
	CT_EXPECT_EQ(pvb_umad_watch(&umad, &config), 0);
	CT_ASSERT_EQ(fake.sends, PVB_SA_TRAPS);
	answer_it(&fake.sent[0]);
	answer_it(&fake.sent[1]);
	CT_EXPECT_EQ(pvb_umad_progress(&umad), 0);
	fake.port.sm_lid = 9;
	pvb_umad_restarted(&umad);
	CT_ASSERT_EQ(fake.sends, 2 * PVB_SA_TRAPS);
	CT_EXPECT_EQ(ntohs(fake.sent[PVB_SA_TRAPS].addr.lid), 9);
	pvb_umad_close(&umad);
}

CT_TEST(sa_umad, R35_a_manager_at_another_lid_is_another)
{
	static const uint8_t any[PVB_MAD_SIZE];
	const struct pvb_sa_watch_config config = {
		.subscribe = true, .wait_ms = 10000, .tries = 1, .again_ms = 1000};

	begin();
	CT_EXPECT_EQ(pvb_umad_watch(&umad, &config), 0);
	/* Refused, and due in a second. */
	answer_it(&fake.sent[0]);
	answer_it(&fake.sent[1]);
	CT_EXPECT_EQ(pvb_umad_progress(&umad), 0);
	/* Lost for some time, and then at another place. */
	fake.port.sm_lid = 0;
	fake_arrive(any, ETIMEDOUT);
	CT_EXPECT_EQ(pvb_umad_progress(&umad), 0);
	CT_EXPECT_EQ(umad.unsent, 0);
	fake.port.sm_lid = 9;
	fake_arrive(any, ETIMEDOUT);
	CT_EXPECT_EQ(pvb_umad_progress(&umad), 0);
	CT_EXPECT_EQ(fake.sends, 2 * PVB_SA_TRAPS);
	pvb_umad_close(&umad);
}
