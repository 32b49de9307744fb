/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "wire/ud_addr.h"

#define ROUNDS 20000

/* What fi_getname of the stock provider gave on simverbs, InfiniBand and RoCE. */
static const uint8_t stock_ib[32] = {0xfe, 0x80, 0,    0, 0,	0,    0,    0,
				     2,	   0x73, 0x6d, 0, 0x76, 0x62, 0,    1,
				     0x14, 0x80, 0x14, 0, 1,	0,    0xff, 0xff};
static const uint8_t stock_roce[32] = {0xfe, 0x80, 0,	 0, 0,	  0,	0,    0,
				       2,    0x73, 0x6d, 0, 0x76, 0x62, 0,    1,
				       0x14, 0,	   0x15, 0, 0,	  0,	0xff, 0xff};

static struct pvb_ud_addr addr_of(const uint8_t *bytes)
{
	struct pvb_ud_addr addr;

	memcpy(&addr, bytes, sizeof(addr));
	return addr;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
CT_TEST(ud_addr, names_of_the_stock_provider_are_addresses_and_read_as_it_prints_them)
{
	struct pvb_ud_addr addr = addr_of(stock_ib);
	char text[PVB_UD_STRLEN];

	CT_EXPECT_TRUE(pvb_ud_valid(&addr));
	CT_EXPECT_EQ(addr.qpn, 0x148014);
	CT_EXPECT_EQ(addr.lid, 1);
	CT_EXPECT_EQ(addr.pkey, 0xffff);
	pvb_ud_text(&addr, text, sizeof(text));
	CT_EXPECT_STREQ(text, "fi_addr_ib_ud://fe80::273:6d00:7662:1:148014/1/ffff/0");
	addr = addr_of(stock_roce);
	CT_EXPECT_TRUE(pvb_ud_valid(&addr));
	pvb_ud_text(&addr, text, sizeof(text));
	CT_EXPECT_STREQ(text, "fi_addr_ib_ud://fe80::273:6d00:7662:1:150014/0/ffff/0");
}

CT_TEST(ud_addr, every_field_is_where_the_stock_provider_has_it)
{
	struct pvb_ud_addr addr;
	uint8_t bytes[32], i;
	char text[PVB_UD_STRLEN];
	int len;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = i + 1;
	addr = addr_of(bytes);
	CT_EXPECT_EQ(addr.service, 0x1a19);
	len = pvb_ud_text(&addr, text, sizeof(text));
	CT_EXPECT_EQ(len, strlen(text));
	CT_EXPECT_STREQ(text, "fi_addr_ib_ud://"
			      "102:304:506:708:90a:b0c:d0e:f10:14131211/1615/1817/1b/"
			      "201f1e1d");
	CT_EXPECT_EQ(pvb_ud_text(&addr, text, 5), len);
	CT_EXPECT_STREQ(text, "fi_a");
}
#endif

CT_TEST(ud_addr, a_q_key_that_is_not_the_stock_providers_is_in_the_address_and_its_text)
{
	struct pvb_ud_addr addr = {.gid = {0xfe}, .qpn = 2, .lid = 3}, back;
	char text[PVB_UD_STRLEN];

	CT_EXPECT_EQ(pvb_ud_qkey(&addr), 0x11111111);
	CT_EXPECT_EQ(pvb_ud_qkey_field(0x11111111), 0);
	addr.qkey = pvb_ud_qkey_field(0x1234567);
	CT_EXPECT_EQ(pvb_ud_qkey(&addr), 0x1234567);
	pvb_ud_text(&addr, text, sizeof(text));
	CT_EXPECT_STREQ(text, "fi_addr_ib_ud://fe00:::2/3/0/0/1234567");
	CT_EXPECT_EQ(pvb_ud_parse(text, &back), 0);
	CT_EXPECT_EQ(memcmp(&addr, &back, sizeof(addr)), 0);
	/* Who it is does not depend on it. */
	back.qkey = 0;
	CT_EXPECT_TRUE(pvb_ud_same(&addr, &back));
}

CT_TEST(ud_addr, what_is_no_unicast_address_is_refused)
{
	const struct pvb_ud_addr good = {.gid = {0xfe}, .qpn = 2, .lid = 3, .sl = 1};
	struct pvb_ud_addr bad = good;

	CT_EXPECT_TRUE(pvb_ud_valid(&good));
	bad.qpn = 0;
	CT_EXPECT_FALSE(pvb_ud_valid(&bad));
	bad.qpn = 0x1000000;
	CT_EXPECT_FALSE(pvb_ud_valid(&bad));
	bad = good;
	bad.sl = 16;
	CT_EXPECT_FALSE(pvb_ud_valid(&bad));
	bad = good;
	bad.lid = 0xc000;
	CT_EXPECT_FALSE(pvb_ud_valid(&bad));
	bad = good;
	bad.gid[0] = 0xff;
	CT_EXPECT_FALSE(pvb_ud_valid(&bad));
	bad = (struct pvb_ud_addr){.gid = {[10] = 0xff, 0xff, 224, 1, 2, 3}, .qpn = 2};
	CT_EXPECT_FALSE(pvb_ud_valid(&bad));
	bad.gid[12] = 223;
	CT_EXPECT_TRUE(pvb_ud_valid(&bad));
	bad = good;
	bad.gid[0] = 0xff;
	bad.gid[0] = 0;
	CT_EXPECT_TRUE(pvb_ud_valid(&bad));
	bad.lid = 0;
	CT_EXPECT_FALSE(pvb_ud_valid(&bad));
}

/* On InfiniBand a receiver sees the GID only of what has a GRH. */
CT_TEST(ud_addr, who_it_is_depends_on_what_a_receiver_sees)
{
	struct pvb_ud_addr a = {.gid = {0xfe}, .qpn = 2, .lid = 3}, b = a;

	b.gid[0] = 0;
	b.sl = 1;
	b.pkey = 7;
	CT_EXPECT_TRUE(pvb_ud_same(&a, &b));
	CT_EXPECT_EQ(pvb_ud_hash(&a), pvb_ud_hash(&b));
	a.lid = b.lid = 0;
	CT_EXPECT_FALSE(pvb_ud_same(&a, &b));
	b.gid[0] = 0xfe;
	CT_EXPECT_TRUE(pvb_ud_same(&a, &b));
	CT_EXPECT_EQ(pvb_ud_hash(&a), pvb_ud_hash(&b));
	b.qpn = 3;
	CT_EXPECT_FALSE(pvb_ud_same(&a, &b));
}

CT_TEST(ud_addr, texts_that_are_none_are_refused)
{
	static const char *const bad[] = {
		"",
		"fi_addr_ib_ud://",
		"fi_addr_ib_ud://:",
		"fi_addr_ib://fe80::1:2/3/4/5",
		"fi_addr_ib_ud://fe80::1/2/3/4",
		"fi_addr_ib_ud://fe80::1:2/3/4",
		"fi_addr_ib_ud://fe80::1:2/3/4/5/",
		"fi_addr_ib_ud://fe80::1:2/3/4/5/6/7",
		"fi_addr_ib_ud://fe80::1:2/3/4/5/123456789",
		"fi_addr_ib_ud://fe80::1:2/3/4/",
		"fi_addr_ib_ud://fe80::1:2/3//5",
		"fi_addr_ib_ud://fe80::1:1000000/3/4/5",
		"fi_addr_ib_ud://fe80::1:2/10000/4/5",
		"fi_addr_ib_ud://fe80::1:2/3/10000/5",
		"fi_addr_ib_ud://fe80::1:2/3/4/10",
		"fi_addr_ib_ud://fe80::1:000000002/3/4/5",
		"fi_addr_ib_ud://fe80::1:-2/3/4/5",
		"fi_addr_ib_ud://fe80::1: 2/3/4/5",
		"fi_addr_ib_ud://fe80::1:0x2/3/4/5",
		"fi_addr_ib_ud://fe80:::1:2/3/4/5",
		"fi_addr_ib_ud://1111:2222:3333:4444:5555:6666:7777:8888:9999:2/3/4/5",
		"fi_addr_ib_ud://fe80::1:2/3/4/5 ",
	};
	struct pvb_ud_addr addr;
	size_t i;

	for (i = 0; i < CRN_COUNT(bad); i++) {
		CT_NOTE("%s", bad[i]);
		CT_EXPECT_EQ(pvb_ud_parse(bad[i], &addr), -FI_EINVAL);
	}
}

CT_TEST(ud_addr, what_was_printed_can_be_read)
{
	struct pvb_ud_addr addr, got;
	char text[PVB_UD_STRLEN];
	unsigned int seed = 1, i;
	size_t at;

	for (i = 0; i < ct_rounds(ROUNDS); i++) {
		memset(&addr, 0, sizeof(addr));
		for (at = 0; at < sizeof(addr.gid); at++)
			addr.gid[at] = (uint8_t)(rand_r(&seed) % 3 ? rand_r(&seed) : 0);
		addr.qpn = (uint32_t)rand_r(&seed) & 0xffffff;
		addr.lid = (uint16_t)rand_r(&seed);
		addr.pkey = (uint16_t)rand_r(&seed);
		addr.sl = rand_r(&seed) & 15;
		CT_ASSERT_TRUE(pvb_ud_text(&addr, text, sizeof(text)) <
			       (int)sizeof(text));
		CT_NOTE("%s", text);
		CT_ASSERT_EQ(pvb_ud_parse(text, &got), 0);
		CT_ASSERT_EQ(memcmp(&got, &addr, sizeof(got)), 0);
	}
}

/* Texts with a few characters changed: read as something that prints, or refused. */
CT_TEST(ud_addr, any_text_is_read_or_refused)
{
	static const char letters[] = "0123456789abcdefF:/. %x";
	const struct pvb_ud_addr addr = {
		.gid = {0xfe, 0x80, [15] = 1}, .qpn = 0x1234, .lid = 3, .pkey = 0xffff};
	struct pvb_ud_addr got, again;
	char text[PVB_UD_STRLEN], out[PVB_UD_STRLEN];
	unsigned int seed = 2, i, n;
	size_t len;

	for (i = 0; i < ct_rounds(ROUNDS); i++) {
		len = (size_t)pvb_ud_text(&addr, text, sizeof(text));
		for (n = 1 + (unsigned int)rand_r(&seed) % 3; n; n--)
			text[(size_t)rand_r(&seed) % (len + 1)] =
				letters[(size_t)rand_r(&seed) % sizeof(letters)];
		text[len] = '\0';
		if (pvb_ud_parse(text, &got))
			continue;
		pvb_ud_text(&got, out, sizeof(out));
		CT_NOTE("%s -> %s", text, out);
		CT_ASSERT_EQ(pvb_ud_parse(out, &again), 0);
		CT_ASSERT_EQ(memcmp(&got, &again, sizeof(got)), 0);
	}
}

CT_TEST(ud_addr, any_bytes_are_looked_at)
{
	struct pvb_ud_addr addr;
	char text[PVB_UD_STRLEN];
	unsigned int seed = 3, i;
	size_t at;

	for (i = 0; i < ct_rounds(ROUNDS); i++) {
		for (at = 0; at < sizeof(addr); at++)
			((uint8_t *)&addr)[at] = (uint8_t)rand_r(&seed);
		if (pvb_ud_valid(&addr))
			CT_ASSERT_TRUE(addr.qpn <= 0xffffff && addr.sl < 16);
		CT_ASSERT_TRUE(pvb_ud_same(&addr, &addr));
		CT_ASSERT_TRUE(pvb_ud_text(&addr, text, sizeof(text)) <
			       (int)sizeof(text));
	}
}
