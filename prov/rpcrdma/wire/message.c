/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <string.h>
#include <cairn/bytes.h>
#include "wire.h"

/* RFC 5531 section 9. */
#define RPC_VERSION 2
/* RFC 5531 section 8.2 and RFC 2203 section 5. */
#define RPCSEC_GSS 6
#define RPCSEC_GSS_VERSION 1
#define RPCSEC_GSS_SERVICE_NONE 1

bool rpr_message_parse(const void *bytes, size_t len, uint32_t *xid,
		       enum rpr_direction *direction)
{
	uint32_t words[2];

	if (len < sizeof(words))
		return false;
	memcpy(words, bytes, sizeof(words));
	*xid = be32toh(words[0]);
	*direction = words[1] ? RPR_REPLY : RPR_CALL;
	return !words[1] || words[1] == htobe32(RPR_REPLY);
}

/* RFC 2203 section 5.3.1: version, procedure, sequence number, service, handle. */
static bool gss_protects_nothing(struct crn_unpack *cred)
{
	uint32_t version = crn_unpack_be32(cred), service;

	crn_unpack_ref(cred, 8);
	service = crn_unpack_be32(cred);
	return version == RPCSEC_GSS_VERSION && service == RPCSEC_GSS_SERVICE_NONE;
}

bool rpr_message_reducible(const void *bytes, size_t len)
{
	struct crn_unpack in, cred;
	enum rpr_direction direction;
	uint32_t xid, version, flavor;

	if (!rpr_message_parse(bytes, len, &xid, &direction) || direction != RPR_CALL)
		return false;
	crn_unpack_init(&in, bytes, len);
	crn_unpack_ref(&in, 8);
	version = crn_unpack_be32(&in);
	crn_unpack_ref(&in, 12); /* program, version, procedure */
	flavor = crn_unpack_be32(&in);
	crn_unpack_part(&in, crn_unpack_be32(&in), &cred);
	if (in.failed || version != RPC_VERSION)
		return false;
	return flavor != RPCSEC_GSS || gss_protects_nothing(&cred);
}
