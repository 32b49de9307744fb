/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * librpma's functions. The library is loaded when one of them is wanted: not every
 * release of Debian has it, and a program that is linked with it does not start without
 * it.
 */
#ifndef RLG_RPMA_LIB_H
#define RLG_RPMA_LIB_H

#include <librpma.h>

/* Their names without "rpma_". */
#define RLG_LIBRPMA_CALLS(X)                 \
	X(atomic_write)                      \
	X(conn_apply_remote_peer_cfg)        \
	X(conn_cfg_delete)                   \
	X(conn_cfg_new)                      \
	X(conn_cfg_set_cq_size)              \
	X(conn_cfg_set_sq_size)              \
	X(conn_delete)                       \
	X(conn_disconnect)                   \
	X(conn_get_cq)                       \
	X(conn_get_event_fd)                 \
	X(conn_get_private_data)             \
	X(conn_next_event)                   \
	X(conn_req_connect)                  \
	X(conn_req_new)                      \
	X(cq_get_wc)                         \
	X(ep_get_fd)                         \
	X(ep_listen)                         \
	X(ep_next_conn_req)                  \
	X(ep_shutdown)                       \
	X(err_2str)                          \
	X(flush)                             \
	X(log_set_function)                  \
	X(log_set_threshold)                 \
	X(mr_dereg)                          \
	X(mr_get_descriptor)                 \
	X(mr_get_descriptor_size)            \
	X(mr_reg)                            \
	X(mr_remote_delete)                  \
	X(mr_remote_from_descriptor)         \
	X(peer_cfg_delete)                   \
	X(peer_cfg_from_descriptor)          \
	X(peer_cfg_get_descriptor)           \
	X(peer_cfg_get_descriptor_size)      \
	X(peer_cfg_new)                      \
	X(peer_cfg_set_direct_write_to_pmem) \
	X(peer_delete)                       \
	X(peer_new)                          \
	X(utils_conn_event_2str)             \
	X(utils_get_ibv_context)             \
	X(write)

struct rlg_librpma {
#define RLG_LIBRPMA_FIELD(name) __typeof__(rpma_##name) *name;
	RLG_LIBRPMA_CALLS(RLG_LIBRPMA_FIELD)
#undef RLG_LIBRPMA_FIELD
};

/* Filled by rlg_librpma_load. */
extern struct rlg_librpma rlg_librpma;

/* Loads the library unless it is loaded. NULL, or why there is none. One thread. */
const char *rlg_librpma_load(void);

#endif
