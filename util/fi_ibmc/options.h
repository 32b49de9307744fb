/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef IMC_OPTIONS_H
#define IMC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "sa/mc_map.h"

/* Exit statuses. */
enum imc_exit {
	IMC_DONE = 0,
	IMC_FAILED = 1,
	IMC_USAGE = 2,
	IMC_NOT_THERE = 3, /* the link or the group */
	IMC_VIOLATED = 4,  /* check: a sentence of the draft */
};

enum imc_command {
	IMC_MAP,
	IMC_LINK,
	IMC_SHOW,
	IMC_LIST,
	IMC_CREATE_LINK,
	IMC_CREATE_ROUTERS,
	IMC_JOIN,
	IMC_LEAVE,
	IMC_WATCH,
	IMC_CHECK,
};

/* Attributes of groups that the line names: a bit for each. */
enum imc_attr {
	IMC_MTU = 1,
	IMC_QKEY = 2,
	IMC_TCLASS = 4,
	IMC_FLOW_LABEL = 8,
	IMC_HOP_LIMIT = 16,
	IMC_SL = 32,
	IMC_RATE = 64,
};

struct imc_attrs {
	uint32_t set; /* enum imc_attr */
	uint8_t mtu;  /* IBV_MTU_* */
	uint32_t qkey;
	uint8_t tclass;
	uint32_t flow_label;
	uint8_t hop_limit;
	uint8_t sl;
	uint8_t rate; /* IBV_RATE_* */
};

struct imc_options {
	enum imc_command command;
	const char *const *word; /* behind the options */
	int words;
	const char *ca;	     /* NULL: the first with an active port */
	int port;	     /* 0: the first active one */
	uint32_t timeout_ms; /* for an answer, before it is asked again */
	uint32_t tries;
	uint64_t sm_key; /* with which members are asked for */
	enum pvb_mc_profile profile;
	uint16_t pkey;
	uint8_t scope; /* 0: the link's */
	bool v4, v6;   /* neither: both */
	bool mgid;     /* words are MGIDs as they are */
	struct imc_attrs attrs;
	uint8_t state; /* PVB_MCM_FULL ... */
	bool stay;
	double seconds; /* INFINITY: until a signal comes */
	uint64_t count; /* UINT64_MAX: any */
	bool strict, json, dot, svg;
	const char *out; /* NULL: the standard output */
};

/* Ends the process at --help and where the line is wrong. */
void imc_options(int argc, char **argv, struct imc_options *options);

#endif
