/* SPDX-License-Identifier: BSD-2-Clause */
/* What was found, for people and for programs; fi_ibmc(1) names the members of the JSON.
 */
#ifndef IMC_PRINT_PRINT_H
#define IMC_PRINT_PRINT_H

#include <jansson.h>
#include <stdio.h>
#include "model/model.h"
#include "rules/rules.h"

/* As text: 0 or -FI_ENOMEM. Those without out to the standard output. */
int imc_print_list(const struct imc_subnet *subnet, FILE *out);
int imc_print_group(const struct imc_subnet *subnet, const struct imc_group *group);
void imc_print_report(const struct imc_subnet *subnet, const struct imc_report *report);
/* "MTU 2048, Q_Key 0x80000b1b, ..." */
void imc_print_attrs(const struct pvb_mcm *mcm, FILE *out);

/* Before the first object: memory that one does not get is not forgotten. */
void imc_json_begin(void);
/* New objects. */
json_t *imc_name_json(const struct imc_name *name);
/* With what all groups have, and with members where they are known. */
json_t *imc_group_json(const struct imc_subnet *subnet, const struct imc_group *group);
json_t *imc_list_json(const struct imc_subnet *subnet);
json_t *imc_report_json(const struct imc_subnet *subnet, const struct imc_report *report);
/* Writes and releases it, in a line of its own or over several: 0, -FI_ENOMEM: something
 * is lacking of what was made since imc_json_begin; -FI_EIO: it cannot be written. */
int imc_json_print(json_t *whole, bool line, FILE *out);

/* Why a rule was not looked at, one after the other; NULL: there is none more. */
const char *imc_not_checked(const struct imc_subnet *subnet, unsigned int at);

#endif
