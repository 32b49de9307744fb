/* SPDX-License-Identifier: BSD-2-Clause */
/* Management datagrams of subnet administration and MGIDs, as anybody in the subnet may
 * send them. */
#include <string.h>
#include "fuzz.h"
#include "sa/sa.h"

/* What was understood packs into something that is understood in the same way. */
#define CHECK_RECORD(type, size_)                                           \
	do {                                                                \
		uint8_t once_[size_], twice_[size_];                        \
		struct type record_ = {0};                                  \
                                                                            \
		if (type##_unpack(data, size, &record_))                    \
			break;                                              \
		FUZZ_CHECK(size >= (size_));                                \
		type##_pack(once_, &record_);                               \
		FUZZ_CHECK(!type##_unpack(once_, sizeof(once_), &record_)); \
		type##_pack(twice_, &record_);                              \
		FUZZ_CHECK(!memcmp(once_, twice_, sizeof(once_)));          \
	} while (0)

static void check_records(const uint8_t *data, size_t size)
{
	CHECK_RECORD(pvb_mcm, PVB_MCM_SIZE);
	CHECK_RECORD(pvb_path_record, PVB_PATH_SIZE);
	CHECK_RECORD(pvb_inform_info, PVB_INFORM_SIZE);
	CHECK_RECORD(pvb_notice, PVB_NOTICE_SIZE);
	CHECK_RECORD(pvb_port_info, PVB_PORT_INFO_SIZE);
	CHECK_RECORD(pvb_sm_info, PVB_SM_INFO_SIZE);
}

static void check_mad(const uint8_t *data, size_t size)
{
	struct pvb_sa_hdr hdr, again;
	uint8_t mad[PVB_MAD_SIZE];

	if (pvb_sa_unpack(data, size, &hdr))
		return;
	pvb_sa_pack(mad, &hdr);
	FUZZ_CHECK(!pvb_sa_unpack(mad, sizeof(mad), &again));
	FUZZ_CHECK(again.tid == hdr.tid && again.method == hdr.method);
	FUZZ_CHECK(again.status == hdr.status && again.attr == hdr.attr);
	FUZZ_CHECK(again.segment == hdr.segment && again.length == hdr.length);
	FUZZ_CHECK(again.comp_mask == hdr.comp_mask);
	check_records(data + PVB_SA_DATA_AT, size - PVB_SA_DATA_AT);
}

/* An MGID of a link is what its address, P_Key and scope map to, but for what an IPv6
 * address has more. */
static void check_mgid(const uint8_t *data)
{
	struct pvb_mc_link link = {.profile = PVB_MC_DRAFT};
	struct pvb_mc_addr addr;
	uint8_t mgid[16];

	if (pvb_mc_unmap(data, &addr))
		return;
	link.pkey = addr.pkey;
	link.scope = addr.scope;
	if (addr.family == AF_INET)
		FUZZ_CHECK(!pvb_mc_map4(&link, addr.ip.v4, mgid));
	else
		FUZZ_CHECK(!pvb_mc_map6(&link, &addr.ip.v6, mgid));
	FUZZ_CHECK(!memcmp(mgid, data, sizeof(mgid)));
}

static int lose(void *arg, const uint8_t *mad, uint32_t wait_ms)
{
	return 0;
}

static void count(void *arg, const struct pvb_sa_answer *answer)
{
	(*(int *)arg)++;
	FUZZ_CHECK(answer->len <= PVB_SA_TABLE_MAX);
	if (answer->len)
		check_records(answer->data, answer->len);
}

/* Whatever comes, in datagrams one behind the other, a request ends once. */
static void check_client(const uint8_t *data, size_t size)
{
	static const struct pvb_sa_ops ops = {.send = lose};
	struct pvb_sa_client client;
	int done = 0;
	struct pvb_sa_request request = {.method = PVB_SA_GET_TABLE,
					 .attr = PVB_SA_MCMEMBER_RECORD,
					 .wait_ms = 10,
					 .tries = 2,
					 .done = count,
					 .arg = &done};

	pvb_sa_open(&client, &ops, NULL, 7);
	FUZZ_CHECK(!pvb_sa_ask(&client, &request, 0));
	for (; size >= PVB_MAD_SIZE; data += PVB_MAD_SIZE, size -= PVB_MAD_SIZE)
		pvb_sa_arrived(&client, data, PVB_MAD_SIZE, 1);
	pvb_sa_arrived(&client, data, size, 1);
	pvb_sa_progress(&client, 100);
	pvb_sa_progress(&client, 200);
	FUZZ_CHECK(done == 1);
	FUZZ_CHECK(pvb_sa_timeout(&client, 200) == -1);
	pvb_sa_close(&client);
	FUZZ_CHECK(done == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_mad(data, size);
	check_client(data, size);
	check_records(data, size);
	if (size >= 16)
		check_mgid(data);
	return 0;
}
