/* SPDX-License-Identifier: BSD-2-Clause */
#include "expect.h"

const struct scenario *xpv_scenario_at(unsigned int number)
{
	static const struct scenario *const tables[] = {
		scenarios_plain,  scenarios_durable, scenarios_message,
		scenarios_replay, scenarios_counted, scenarios_plan,
		scenarios_fence,  scenarios_regions};
	const struct scenario *scenario;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (scenario = tables[i]; scenario->name; scenario++)
			if (!number--)
				return scenario;
	return NULL;
}

unsigned int xpv_scenario_expects(const struct scenario *scenario,
				  const struct machine *machine)
{
	return scenario->expect ? scenario->expect(machine) : 0;
}
