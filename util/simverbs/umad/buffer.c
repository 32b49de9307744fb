/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of a buffer depends on whether the kernel knows P_Key indices, which libibumad
 * asks it when it opens a port; here it always does. Its other helpers do as they are.
 */
#include "umad.h"

SVB_API size_t umad_size(void)
{
	return sizeof(ib_user_mad_t);
}

SVB_API void *umad_get_mad(void *umad)
{
	return ((ib_user_mad_t *)umad)->data;
}

SVB_API int umad_set_pkey(void *umad, int pkey_index)
{
	((ib_user_mad_t *)umad)->addr.pkey_index = (uint16_t)pkey_index;
	return 0;
}

SVB_API int umad_get_pkey(void *umad)
{
	return ((ib_user_mad_t *)umad)->addr.pkey_index;
}
