/* SPDX-License-Identifier: BSD-2-Clause */
/* Private data of a connection: RFC 8797, and what is behind it. */
#include <string.h>
#include "cm.h"

static const uint8_t cm_mark[3] = {'C', 'R', 'P'};

ssize_t rpr_cm_pack(const struct rpr_ep *ep, const void *param, size_t paramlen,
		    uint8_t buf[RPR_CM_DATA_MAX])
{
	/* R stays clear: regions of libfabric cannot be invalidated by a peer. */
	const struct rpr_private priv = {
		.send_size = (uint32_t)rpr_params.inline_size,
		.recv_size = (uint32_t)rpr_params.inline_size,
	};

	if (paramlen > RPR_CM_DATA_MAX - RPR_CM_OVERHEAD)
		return -FI_EINVAL;
	rpr_private_pack(&priv, buf);
	memcpy(buf + RPR_PRIVATE_LEN, cm_mark, sizeof(cm_mark));
	buf[RPR_CM_OVERHEAD - 1] =
		(uint8_t)(ep->grant ? ep->mode : ep->mode | RPR_CM_UNREADY);
	if (paramlen)
		memcpy(buf + RPR_CM_OVERHEAD, param, paramlen);
	return (ssize_t)(RPR_CM_OVERHEAD + paramlen);
}

void rpr_cm_raw(fid_t lower, enum rpr_mode mode)
{
	const int raw = 1;

	if (mode == RPR_MODE_RPC)
		fi_setopt(lower, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RAW_CM_DATA, &raw,
			  sizeof(raw));
}

size_t rpr_cm_parse(const void *data, size_t len, struct rpr_private *priv, int *marker)
{
	const uint8_t *bytes = data;
	size_t at = rpr_private_find(priv, data, len, true);

	*marker = 0;
	if (!at || len - at <= sizeof(cm_mark) || memcmp(bytes + at, cm_mark, 3) != 0)
		return at;
	*marker = bytes[at + 3];
	return at + sizeof(cm_mark) + 1;
}

void rpr_cm_agree(struct rpr_ep *ep, const struct rpr_private *priv, int marker)
{
	ep->send_inline = CRN_MIN(rpr_params.inline_size, (size_t)priv->recv_size);
	ep->recv_inline = CRN_MIN(rpr_params.inline_size, (size_t)priv->send_size);
	ep->marker = marker;
	/* The end that connects is ready for the other's Calls when it says so; the end
	 * that listens always is. */
	ep->ready = ep->ready || ep->active || (marker && !(marker & RPR_CM_UNREADY));
}
