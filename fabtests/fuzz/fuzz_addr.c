/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses as an application may give them: a byte that chooses the format, then the
 * bytes said to be an address.
 */
#include <string.h>
#include <rdma/fabric.h>
#include <cairn/addr.h>
#include "fuzz.h"

/* Any family may be shown; nothing but the family is read of an unknown one. */
static void show(const uint8_t *data, size_t size)
{
	union crn_addr addr = {.ss = {0}};
	char text[CRN_ADDR_STRLEN];

	memcpy(&addr, data, size < sizeof(addr) ? size : sizeof(addr));
	FUZZ_CHECK(crn_addr_str(&addr.sa, text) == text);
	FUZZ_CHECK(strnlen(text, sizeof(text)) < sizeof(text));
}

/* A valid address is used in every way, in memory that is not a byte longer. */
static void use(struct sockaddr *sa, size_t size, uint32_t format)
{
	size_t len = crn_addr_len(sa), copied = size;
	struct sockaddr *copy = crn_addr_dup(sa);
	char text[CRN_ADDR_STRLEN];
	union crn_addr out;

	FUZZ_CHECK(len && len <= size);
	FUZZ_CHECK(format == FI_FORMAT_UNSPEC || format == FI_SOCKADDR ||
		   format == crn_addr_format(sa));
	FUZZ_CHECK(copy && !memcmp(copy, sa, len));
	FUZZ_CHECK(crn_addr_same_host(sa, copy));
	FUZZ_CHECK(crn_addr_is_any(sa) + crn_addr_is_loopback(sa) +
			   crn_addr_is_linklocal(sa) <=
		   1);
	crn_addr_set_port(copy, (uint16_t)(crn_addr_port(sa) + 1));
	FUZZ_CHECK(crn_addr_port(copy) == (uint16_t)(crn_addr_port(sa) + 1));
	FUZZ_CHECK(crn_addr_same_host(sa, copy));
	if (copied > sizeof(out))
		copied = sizeof(out);
	FUZZ_CHECK(!crn_addr_copy_out(sa, &out, &copied) && copied == len);
	FUZZ_CHECK(strlen(crn_addr_str(sa, text)) < sizeof(text));
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t format;
	void *addr;

	if (!size)
		return 0;
	format = *data++;
	size--;
	addr = calloc(1, size);
	if (size)
		memcpy(addr, data, size);
	if (crn_addr_valid(addr, size, format))
		use(addr, size, format);
	show(data, size);
	free(addr);
	return 0;
}
