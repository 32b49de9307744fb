/* SPDX-License-Identifier: BSD-2-Clause */
/* A subnet administrator's tables, of records that the test makes. */
#ifndef IBMC_WORLD_H
#define IBMC_WORLD_H

#include "model/model.h"

/* Records of a table are so far apart, in bytes: what opensm sends. */
#define WORLD_MCM_STRIDE 56
#define WORLD_NODE_STRIDE 112
#define WORLD_PORT_STRIDE 72
#define WORLD_SWITCH_STRIDE 24
#define WORLD_PKEY_STRIDE 72

extern struct imc_subnet world;

/* What is there is freed first. */
void world_begin(void);
/* The group that others are like: MTU 2048, a controlled Q_Key, MLID 0xc000. */
struct pvb_mcm world_group(const char *mgid);
void world_add(const struct pvb_mcm *mcm);
/* port_guid: of the member; state: PVB_MCM_FULL ... */
void world_add_member(const char *mgid, uint64_t port_guid, uint8_t state);
void world_add_node(uint16_t lid, uint8_t type, uint64_t port_guid, const char *name);
/* An active port. */
void world_add_port(uint16_t lid, uint8_t number, uint8_t mtu_cap, uint8_t mtu);
void world_add_pkey(uint16_t lid, uint8_t port, uint16_t block, uint16_t pkey);
void world_add_switch(uint16_t lid, uint16_t fdb);
void world_finish(void);
void world_end(void);

#endif
