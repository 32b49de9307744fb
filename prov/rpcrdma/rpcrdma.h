/* SPDX-License-Identifier: BSD-2-Clause */
/* The name, the log, limits and parameters. */
#ifndef RPR_RPCRDMA_H
#define RPR_RPCRDMA_H

#include <stddef.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/compat.h>

#define RPR_NAME "rpcrdma"
#define RPR_PROV_VERSION FI_VERSION(0, 1)

/* What a message of a connection may be, or is (fi_rpcrdma(7)). */
enum rpr_mode {
	RPR_MODE_RPC = 1, /* a whole RPC message; the value is that of the marker */
	RPR_MODE_WRAP = 2,
};

/* Bytes of an inline message, header included; RFC 8166 section 3.3.2. */
#define RPR_INLINE_MIN 1024
#define RPR_INLINE_MAX 262144
/* Calls outstanding in one direction. */
#define RPR_CREDITS_MAX 1024
/* Of a posted receive or a send. */
#define RPR_IOV_LIMIT 8
/* Receives, and sends of wrap mode, of an endpoint: without a wish, and at most. */
#define RPR_SIZE 128
#define RPR_SIZE_MAX 4096
/* Receives of a shared context. */
#define RPR_SRX_MAX 65536
/* Bytes that fi_inject takes: what the smallest threshold leaves behind the longest
 * header of wrap mode. */
#define RPR_INJECT_SIZE 928
/* Bytes of connection data that the layer puts in front of the program's. */
#define RPR_CM_OVERHEAD 12

/* FI_RPCRDMA_MODE */
enum rpr_word { RPR_WORD_AUTO, RPR_WORD_WRAP, RPR_WORD_RPC };

struct rpr_params {
	char *lower;
	int mode;	    /* enum rpr_word */
	size_t inline_size; /* bytes */
	size_t credits;
	size_t copy;	   /* bytes */
	size_t reply_size; /* bytes */
	size_t max_rpc;	   /* bytes of a message in rpc mode */
	size_t max_wrap;   /* bytes of a message in wrap mode */
};

extern struct fi_provider rpr_prov;
extern struct rpr_params rpr_params;

#define RPR_WARN(subsystem, ...) FI_WARN(&rpr_prov, subsystem, __VA_ARGS__)
#define RPR_INFO(subsystem, ...) FI_INFO(&rpr_prov, subsystem, __VA_ARGS__)

#endif
