/* SPDX-License-Identifier: BSD-2-Clause */
/* What devices do differently, one row each: the driver or the transport decides. */
#include <string.h>
#include "device.h"

static const struct {
	enum pvb_quirk quirk;
	const char *driver; /* of struct pvb_adapter; NULL: any device of the transport */
	enum ibv_transport_type transport; /* of a row without a driver */
} pvb_quirk_table[] = {
	/* Linux 6.12: fi_pverbs(7), KNOWN LIMITS OF DEVICES; xfer/fence.c. */
	{.quirk = PVB_QUIRK_FENCE_STALLS, .driver = "rxe"},
	/* RFC 7306 section 6 has immediate data, RFC 5040, which siw implements, has not.
	 */
	{.quirk = PVB_QUIRK_NO_IMMEDIATE, .driver = "siw"},
	/* RFC 5040 has no atomics; those of RFC 7306 (section 5) are not ordered with the
	 * writes before them. */
	{.quirk = PVB_QUIRK_NO_ATOMICS, .transport = IBV_TRANSPORT_IWARP},
	/* RFC 5040 section 2.2: the answer to a read is a write into the reader's memory.
	 */
	{.quirk = PVB_QUIRK_READ_NEEDS_WRITE, .transport = IBV_TRANSPORT_IWARP},
	/* RFC 5040 section 5.5: completion of a write or send means that TCP has the
	 * data. */
	{.quirk = PVB_QUIRK_WEAK_COMPLETION, .transport = IBV_TRANSPORT_IWARP},
	/* RFC 5044: a queue pair takes over an open TCP connection. */
	{.quirk = PVB_QUIRK_KERNEL_CONNECTS, .transport = IBV_TRANSPORT_IWARP},
};

uint32_t pvb_quirks(const char *driver, enum ibv_transport_type transport)
{
	uint32_t quirks = 0;
	size_t i;

	for (i = 0; i < CRN_COUNT(pvb_quirk_table); i++) {
		if (pvb_quirk_table[i].driver ? !strcmp(pvb_quirk_table[i].driver, driver)
					      : pvb_quirk_table[i].transport == transport)
			quirks |= pvb_quirk_table[i].quirk;
	}
	return quirks;
}

uint32_t pvb_device_quirks(struct ibv_context *verbs)
{
	struct pvb_adapter adapter;

	pvb_adapter_detect(&crn_host, ibv_get_device_name(verbs->device),
			   pvb_facts_library(verbs), &adapter);
	return pvb_quirks(adapter.driver, verbs->device->transport_type);
}
