/* SPDX-License-Identifier: BSD-2-Clause */
/* What libfabric calls when it loads the provider. */
#include <cairn/param.h>
#include "objects.h"

struct rpr_params rpr_params;

static const char *const mode_words[] = {"auto", "wrap", "rpc", NULL};

static const struct crn_param params[] = {
	CRN_PARAM_STRING("lower", &rpr_params.lower,
			 "pverbs, verbs or tcp, the first that fits",
			 "Provider that the layer runs over"),
	CRN_PARAM_WORD(
		"mode", &rpr_params.mode, RPR_WORD_AUTO, mode_words,
		"What a message of the program is: wrap puts it into an RPC of the "
		"provider's own, rpc takes it for an RPC message; auto: as the "
		"protocol of fi_info says"),
	CRN_PARAM_SIZE("inline", &rpr_params.inline_size, 4096, RPR_INLINE_MIN,
		       RPR_INLINE_MAX,
		       "Bytes of an inline message each way, header included; a multiple "
		       "of 1024"),
	CRN_PARAM_SIZE("credits", &rpr_params.credits, 32, 1, RPR_CREDITS_MAX,
		       "Calls outstanding of a connection in each direction"),
	CRN_PARAM_SIZE("copy", &rpr_params.copy, 65536, 0, UINT32_MAX,
		       "rpc mode: bytes of a long message that are copied at most"),
	CRN_PARAM_SIZE(
		"reply_size", &rpr_params.reply_size, 0, 0, UINT32_MAX,
		"rpc mode: bytes of the largest Reply expected; 0: what is inline"),
	CRN_PARAM_SIZE("max_rpc", &rpr_params.max_rpc, 1114112, RPR_INLINE_MIN,
		       UINT32_MAX, "rpc mode: bytes of a message at most"),
	CRN_PARAM_SIZE("max_wrap", &rpr_params.max_wrap, 1073741824, RPR_INLINE_MIN,
		       UINT32_MAX - RPR_INLINE_MAX,
		       "wrap mode: bytes of a message at most"),
};

/* Every provider has one; here is nothing to clean up. */
static void rpr_cleanup(void)
{
}

struct fi_provider rpr_prov = {
	.version = RPR_PROV_VERSION,
	.name = RPR_NAME,
	.getinfo = rpr_getinfo,
	.fabric = rpr_fabric_open,
	.cleanup = rpr_cleanup,
};

FI_EXT_INI;
FI_EXT_INI
{
	/* The library's own: with a lower number libfabric leaves the provider out for
	 * programs built with newer headers. */
	rpr_prov.fi_version = fi_version();
	crn_params_read(&rpr_prov, params, CRN_COUNT(params));
	rpr_params.inline_size &= ~(size_t)1023;
	rpr_info_setup();
	return &rpr_prov;
}
