/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as text, with and without a unit. Pure. */
#ifndef RTE_CONFIG_VALUE_H
#define RTE_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal digits at *text, which moves behind them. False: there are none, or the number
 * is above max. */
bool rte_take_number(const char **text, uint64_t max, uint64_t *value);

/* Names and what each stands for, ascending, up to a NULL. A number without a unit needs
 * one of name "". */
struct rte_unit {
	const char *name;
	uint64_t factor;
};

extern const struct rte_unit rte_units_none[];
extern const struct rte_unit rte_units_milli[]; /* thousandths of what is written */
extern const struct rte_unit rte_units_rate[];	/* bit/s: K M G T, powers of 1000 */
extern const struct rte_unit rte_units_bytes[]; /* K M G, powers of 1024 */
extern const struct rte_unit rte_units_ns[];	/* ns us ms s */
extern const struct rte_unit rte_units_ms[];	/* ms s */

/* "10G", "2.5us": a number that is whole in the unit of value. */
bool rte_value_parse(const char *text, const struct rte_unit *units, uint64_t *value);

#define RTE_VALUE_SIZE 32
/* In the largest unit in which it is whole; returns buf. */
const char *rte_value_print(uint64_t value, const struct rte_unit *units,
			    char buf[RTE_VALUE_SIZE]);

#endif
