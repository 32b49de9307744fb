/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sa/sa_mad.h"
#include "words.h"

#define MTU_CODE_MAX 5
#define SCOPE_MAX 14

uint32_t imc_mtu_bytes(uint8_t code)
{
	return code && code <= MTU_CODE_MAX ? 128u << code : 0;
}

uint8_t imc_mtu_code(uint32_t bytes)
{
	uint8_t code;

	for (code = 1; code <= MTU_CODE_MAX; code++)
		if (bytes == imc_mtu_bytes(code))
			return code;
	return 0;
}

/* InfiniBand specification table 205, which IBV_RATE_* follows. */
const char *imc_rate_text(uint8_t code, char text[IMC_TEXT])
{
	static const char *const rates[] = {
		[2] = "2.5",  [3] = "10",   [4] = "30",	   [5] = "5",	 [6] = "20",
		[7] = "40",   [8] = "60",   [9] = "80",	   [10] = "120", [11] = "14",
		[12] = "56",  [13] = "112", [14] = "168",  [15] = "25",	 [16] = "100",
		[17] = "200", [18] = "300", [19] = "28",   [20] = "50",	 [21] = "400",
		[22] = "600", [23] = "800", [24] = "1200",
	};

	if (code < sizeof(rates) / sizeof(rates[0]) && rates[code])
		snprintf(text, IMC_TEXT, "%s Gb/s", rates[code]);
	else
		snprintf(text, IMC_TEXT, "rate %u", code);
	return text;
}

static const struct {
	uint8_t bit;
	const char *name;
} states[] = {
	{PVB_MCM_FULL, "full"},
	{PVB_MCM_NON_MEMBER, "non"},
	{PVB_MCM_SEND_ONLY_NON_MEMBER, "send-only-non"},
	{PVB_MCM_SEND_ONLY_FULL, "send-only"},
};

const char *imc_state_text(uint8_t state, char text[IMC_TEXT])
{
	size_t i, len = 0;

	text[0] = '\0';
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (state & states[i].bit)
			len += (size_t)snprintf(text + len, IMC_TEXT - len, "%s%s",
						len ? "," : "", states[i].name);
	if (!len)
		snprintf(text, IMC_TEXT, "not told");
	return text;
}

uint8_t imc_state_parse(const char *text)
{
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (!strcmp(text, states[i].name))
			return states[i].bit;
	return 0;
}

/* Draft section 4. */
static const char *const scopes[SCOPE_MAX + 1] = {
	[1] = "node-local",	    [2] = "link-local", [5] = "site-local",
	[8] = "organization-local", [14] = "global",
};

const char *imc_scope_text(uint8_t scope)
{
	return scope <= SCOPE_MAX && scopes[scope] ? scopes[scope] : "";
}

uint8_t imc_scope_parse(const char *text)
{
	unsigned long value;
	uint8_t scope;
	char *end;

	for (scope = 1; scope <= SCOPE_MAX; scope++)
		if (scopes[scope] && !strcmp(text, scopes[scope]))
			return scope;
	value = strtoul(text, &end, 0);
	return *text >= '0' && *text <= '9' && !*end && value <= SCOPE_MAX
		       ? (uint8_t)value
		       : 0;
}

const char *imc_status_text(uint16_t status)
{
	switch (status) {
	case PVB_SA_BUSY:
		return "it is busy";
	case PVB_SA_NO_RESOURCES:
		return "no resources: no multicast LID is left";
	case PVB_SA_REQ_INVALID:
		return "refused: not in the partition, not a member, or attributes that "
		       "the group has not";
	case PVB_SA_NO_RECORDS:
		return "there is none";
	case PVB_SA_TOO_MANY_RECORDS:
		return "there are several";
	case PVB_SA_INVALID_GID:
		return "it knows no such port";
	case PVB_SA_INSUFFICIENT_COMPONENTS:
		return "there is no such group";
	case PVB_SA_REQ_DENIED:
		return "denied";
	default:
		return "the subnet administrator cannot do that";
	}
}
