/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef IMC_MAP_MAP_H
#define IMC_MAP_MAP_H

#include "options.h"

/* fi_ibmc map: the exit status. */
int imc_map(const struct imc_options *options);

#endif
