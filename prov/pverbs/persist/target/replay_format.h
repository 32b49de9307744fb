/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages that recovery finds again in persistent receive buffers: the replay format of
 * rdma/fi_ext_cairn.h. A header of 32 bytes goes ahead of the payload, little-endian:
 *
 *   bytes 0-7   "CrnRply1"
 *   bytes 8-15  number of the message
 *   bytes 16-23 length of the payload, bytes
 *   bytes 24-27 CRC-32C of the payload
 *   bytes 28-31 CRC-32C of bytes 0 to 27
 *
 * A message that was being received when the power failed may be torn anywhere; so may a
 * buffer that was used before. What both sums agree with is whole.
 */
#ifndef PVB_PERSIST_TARGET_REPLAY_FORMAT_H
#define PVB_PERSIST_TARGET_REPLAY_FORMAT_H

#include <rdma/fi_ext_cairn.h>

extern struct fi_cairn_ops_replay pvb_replay_ops;

#endif
