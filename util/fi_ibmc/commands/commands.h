/* SPDX-License-Identifier: BSD-2-Clause */
/* One function for each command that asks the subnet administrator: the exit status. */
#ifndef IMC_COMMANDS_COMMANDS_H
#define IMC_COMMANDS_COMMANDS_H

#include "session/session.h"

int imc_link(struct imc_session *session);
int imc_show(struct imc_session *session);
int imc_list(struct imc_session *session);
int imc_create_link(struct imc_session *session);
int imc_create_routers(struct imc_session *session);
int imc_join(struct imc_session *session);
int imc_leave(struct imc_session *session);
int imc_watch(struct imc_session *session);
int imc_check(struct imc_session *session);

/* Says that memory is lacking, if that is it; what cannot be written main tells. 0 or
 * -FI_E*: the exit status. */
int imc_written(int ret);

/* A group by its record alone, with no members known, for the printers. */
struct imc_one {
	struct imc_record record;
	struct imc_group group;
};
void imc_one_of(const struct pvb_mcm *mcm, struct imc_one *one);

#endif
