/* SPDX-License-Identifier: BSD-2-Clause */
/* What somebody may send to the control socket of fi_router. */
#include <string.h>
#include "control/request.h"
#include "fuzz.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frt_request request;
	const char *why;

	if (size > FRT_REQUEST_MAX)
		return 0;
	memset(&request, 0xa5, sizeof(request));
	why = frt_request_parse(&request, (const char *)data, size);
	if (why) {
		FUZZ_CHECK(*why);
		return 0;
	}
	FUZZ_CHECK(request.command < FRT_COMMANDS);
	FUZZ_CHECK(request.what < FRT_SHOWS);
	FUZZ_CHECK(request.ttl <= RTE_TTL_MAX);
	FUZZ_CHECK(request.count <= FRT_TOP_COUNT_MAX);
	FUZZ_CHECK(request.timeout && request.timeout <= FRT_PROBE_MS_MAX);
	if (request.command == FRT_PROBE)
		FUZZ_CHECK(request.target.routed && !request.target.port &&
			   (request.target.kind == RTE_HOST_IN ||
			    request.target.kind == RTE_HOST_IN6));
	return 0;
}
