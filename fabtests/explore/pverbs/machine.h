/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef XPV_MACHINE_H
#define XPV_MACHINE_H

#include "scenario.h"

/* Machine number, or false behind the last. */
bool machine_at(unsigned int number, struct machine *m);
void machine_text(const struct machine *m, char *text, size_t size);

#endif
