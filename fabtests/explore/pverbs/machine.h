/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef XPV_MACHINE_H
#define XPV_MACHINE_H

#include "scenario.h"

/* Machine number, or false behind the last. */
bool xpv_machine_at(unsigned int number, struct machine *m);
void xpv_machine_text(const struct machine *m, char *text, size_t size);

#endif
