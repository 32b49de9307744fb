/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys as any peer may hand them out: 8 bytes, the lowest first. */
#include <rdma/fi_errno.h>
#include "fuzz.h"
#include "wire/key.h"

static void check(uint64_t key)
{
	struct pvb_key_attr attr;
	int ret = pvb_key_parse(key, &attr);

	switch (ret) {
	case 0:
		/* Only what we would say ourselves is understood. */
		FUZZ_CHECK(attr.persistent && attr.domain <= CRN_WSP);
		FUZZ_CHECK(pvb_key_pack((uint32_t)key, &attr) == key);
		FUZZ_CHECK(key != UINT64_MAX);
		break;
	case -FI_EOPNOTSUPP:
		FUZZ_CHECK(pvb_key_pack((uint32_t)key, NULL) == key);
		break;
	default:
		FUZZ_CHECK(ret == -FI_EKEYREJECTED && key >> 32);
	}
}

/* What a target says of a region arrives. */
static void round_trip(uint64_t bits)
{
	const struct pvb_key_attr attr = {.domain = (enum crn_persistence)(bits % 3),
					  .ddio = bits & 4,
					  .persistent = bits & 8,
					  .flush = bits & 16,
					  .atomic_write = bits & 32,
					  .readable = bits & 64,
					  .software = bits & 128};
	const uint64_t key = pvb_key_pack((uint32_t)(bits >> 32), &attr);
	struct pvb_key_attr got;

	FUZZ_CHECK(key >> 32 ? attr.persistent : !attr.persistent);
	FUZZ_CHECK((uint32_t)key == bits >> 32);
	FUZZ_CHECK(pvb_key_parse(key, &got) == (attr.persistent ? 0 : -FI_EOPNOTSUPP));
	check(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t key = 0;

	for (size_t i = 0; i < size && i < sizeof(key); i++)
		key |= (uint64_t)data[i] << (8 * i);
	check(key);
	round_trip(key);
	return 0;
}
