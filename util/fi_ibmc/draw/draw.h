/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of links, groups and members. */
#ifndef IMC_DRAW_DRAW_H
#define IMC_DRAW_DRAW_H

#include <stdio.h>
#include "model/model.h"

/* In the language of dot(1): groups in the frame of their link, lines to their members.
 */
int imc_dot(const struct imc_subnet *subnet, FILE *out);
/* A table: a row for each group, a column for each port that is a member of any. */
int imc_svg(const struct imc_subnet *subnet, FILE *out);

/* Within this folder: ports that are members of any group, once each. */
struct imc_ports {
	const struct imc_record **port; /* a record of each, in order of GIDs */
	uint32_t ports;
};
/* -FI_ENOMEM. */
int imc_ports_open(const struct imc_subnet *subnet, struct imc_ports *ports);
void imc_ports_close(struct imc_ports *ports);
/* What it is called: its node's name and LID, or its GID. */
#define IMC_PORT_TEXT 96
const char *imc_port_text(const struct imc_subnet *subnet,
			  const struct imc_record *record, char text[IMC_PORT_TEXT]);

#endif
