/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the room ask of each other. */
#ifndef SVB_SA_PARTS_H
#define SVB_SA_PARTS_H

#include "sa.h"

/* A request to the SA and its answer. */
struct svb_sa {
	const struct svb_sa_client *client;
	const uint8_t *mad;
	const uint8_t *data; /* its record */
	uint64_t mask;	     /* component mask */
	uint8_t method;
	/* Records found, each of record bytes, a multiple of 8. */
	uint8_t *found;
	size_t size;
	size_t record;
};

/*
 * A zeroed record to fill, one more of the answer. NULL: no memory.
 */
uint8_t *svb_sa_add(struct svb_sa *sa);
/* Does the request ask for another value of this component? */
bool svb_sa_differs(const struct svb_sa *sa, unsigned int component,
		    const uint8_t *record, size_t at, size_t bytes);

/* Handlers: a status; records are added. */
uint32_t svb_sa_mcmember_set(struct svb_sa *sa);
uint32_t svb_sa_mcmember_delete(struct svb_sa *sa);
uint32_t svb_sa_mcmember_get(struct svb_sa *sa);
uint32_t svb_sa_path_get(struct svb_sa *sa);
uint32_t svb_sa_node_get(struct svb_sa *sa);
uint32_t svb_sa_port_get(struct svb_sa *sa);
uint32_t svb_sa_pkey_get(struct svb_sa *sa);
uint32_t svb_sa_sm_get(struct svb_sa *sa);
uint32_t svb_sa_class_get(struct svb_sa *sa);
uint32_t svb_sa_inform_set(struct svb_sa *sa);

/* Attributes of ports, at where they begin: smp.c. */
void svb_fill_node_info(uint8_t *at, const struct svb_port *port);
void svb_fill_node_description(uint8_t *at, const struct svb_port *port);
void svb_fill_port_info(uint8_t *at, const struct svb_port *port);
void svb_fill_pkeys(uint8_t *at, const struct svb_port *port);
void svb_fill_sm_info(uint8_t *at);
/* Answers in place. False: there is no answer. */
bool svb_smp_answer(const struct svb_port *port, uint16_t lid, uint8_t mad[SVB_MAD_SIZE]);

#endif
