/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Cairn's providers offer beyond standard libfabric. Programs that need none of it
 * need not include it. See fi_pverbs(7).
 */
#ifndef FI_EXT_CAIRN_H
#define FI_EXT_CAIRN_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Endpoint option (fi_setopt, level FI_OPT_ENDPOINT, int, default 0) of pverbs endpoints
 * and passive endpoints, before fi_connect, fi_listen or fi_accept: with 1 the connection
 * data is put into the rdma_cm private data byte for byte, without libfabric's length
 * byte, and what a peer sent is given whole. It is for peers that are not libfabric
 * programs. FI_OPT_CM_DATA_SIZE then is 56, the bytes that rdma_cm carries in a request.
 */
#define FI_OPT_CAIRN_RAW_CM_DATA (-0x43520001)

#ifdef __cplusplus
}
#endif

#endif
