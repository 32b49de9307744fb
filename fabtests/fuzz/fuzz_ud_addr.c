/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of datagram endpoints (FI_ADDR_IB_UD), as a peer or a program gives them: the
 * bytes as a text and as one address behind the other. */
#include <string.h>
#include "fuzz.h"
#include "wire/ud_addr.h"

/* The text of an address names the same one, but for the service, which is not in it, and
 * for a Q_Key that is the default. */
static void check_text(const struct pvb_ud_addr *addr)
{
	char text[PVB_UD_STRLEN], again[PVB_UD_STRLEN];
	const int len = pvb_ud_text(addr, text, sizeof(text));
	struct pvb_ud_addr back;

	FUZZ_CHECK(len > 0 && (size_t)len < sizeof(text) && strlen(text) == (size_t)len);
	FUZZ_CHECK(pvb_ud_text(addr, NULL, 0) == len);
	if (addr->sl > 15 || addr->qpn > 0xffffff) {
		FUZZ_CHECK(pvb_ud_parse(text, &back));
		return;
	}
	FUZZ_CHECK(!pvb_ud_parse(text, &back));
	FUZZ_CHECK(!memcmp(back.gid, addr->gid, sizeof(back.gid)));
	FUZZ_CHECK(back.qpn == addr->qpn && back.lid == addr->lid);
	FUZZ_CHECK(back.pkey == addr->pkey && back.sl == addr->sl);
	FUZZ_CHECK(back.qkey == addr->qkey && !back.service && !back.padding);
	FUZZ_CHECK(pvb_ud_valid(&back) == pvb_ud_valid(addr));
	FUZZ_CHECK(pvb_ud_same(&back, addr));
	FUZZ_CHECK(pvb_ud_hash(&back) == pvb_ud_hash(addr));
	pvb_ud_text(&back, again, sizeof(again));
	FUZZ_CHECK(!strcmp(text, again));
}

/* Who is the same has the same hash, and it does not matter who is asked. */
static void check_pair(const struct pvb_ud_addr *a, const struct pvb_ud_addr *b)
{
	const bool same = pvb_ud_same(a, b);

	FUZZ_CHECK(same == pvb_ud_same(b, a));
	FUZZ_CHECK(!same || pvb_ud_hash(a) == pvb_ud_hash(b));
	FUZZ_CHECK(!same || a->qpn == b->qpn);
}

static void check_binary(const uint8_t *data, size_t size)
{
	struct pvb_ud_addr addr, before;

	memset(&before, 0, sizeof(before));
	for (; size >= sizeof(addr); data += sizeof(addr), size -= sizeof(addr)) {
		memcpy(&addr, data, sizeof(addr));
		FUZZ_CHECK(pvb_ud_same(&addr, &addr));
		FUZZ_CHECK(!pvb_ud_valid(&addr) || (addr.qpn && addr.qpn < 1u << 24));
		FUZZ_CHECK(!pvb_ud_valid(&addr) || addr.lid || !pvb_ud_no_gid(&addr));
		FUZZ_CHECK(!pvb_ud_valid(&addr) || !pvb_ud_group_gid(addr.gid));
		FUZZ_CHECK(pvb_ud_qkey(&addr));
		check_pair(&before, &addr);
		check_text(&addr);
		before = addr;
	}
}

/* In memory that is not a byte longer than the text. */
static void check_read(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);
	struct pvb_ud_addr addr;

	if (size)
		memcpy(text, data, size);
	if (!pvb_ud_parse(text, &addr))
		check_text(&addr);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_binary(data, size);
	check_read(data, size);
	return 0;
}
