/* SPDX-License-Identifier: BSD-2-Clause */
/* What a simulation found, for people and for programs. */
#ifndef RCT_SHOW_H
#define RCT_SHOW_H

#include "options.h"
#include "sim.h"

/* Text (sheet.c, sheet_clients.c, sheet_between.c): 0 or -FI_ENOMEM. */
int rct_sheet_clients(const struct rct_sim *sim, const struct rct_as *as,
		      const struct rct_options *options);
int rct_sheet(const struct rct_sim *sim, const struct rct_options *options);
int rct_sheet_between(const struct rct_sim *sim, const struct rct_options *options);
/* One object to the standard output, which json_dumpf(3) writes. */
int rct_json(const struct rct_sim *sim, const struct rct_options *options);
/* A picture in the language of dot(1). -FI_ENOENT: there is no route to be marked. */
int rct_dot(const struct rct_sim *sim, const struct rct_options *options, FILE *out);
/* DOT to a file, or SVG by dot(1): 0 or -FI_E*, printed. */
int rct_draw(const struct rct_sim *sim, const struct rct_options *options);

/* Is that subnet of the AS meant? WANs are, as AS 0, whoever names them. */
bool rct_wanted(bool only, struct rte_subnet what, const struct rct_as *as,
		const struct rct_net *net);

#endif
