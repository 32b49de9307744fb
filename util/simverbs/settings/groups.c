/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "groups.h"

static const struct {
	const char *name;
	size_t offset;
	unsigned long most;
} svb_made_keys[] = {
	{"qkey", offsetof(struct svb_made_group, qkey), UINT32_MAX},
	{"flow", offsetof(struct svb_made_group, flow), 0xfffff},
	{"mtu", offsetof(struct svb_made_group, mtu), 4096},
	{"tclass", offsetof(struct svb_made_group, tclass), 255},
	{"sl", offsetof(struct svb_made_group, sl), 15},
	{"pkey", offsetof(struct svb_made_group, pkey), 0xffff},
};

static bool svb_made_set(struct svb_made_group *group, char *word)
{
	char *text = strchr(word, '='), *end;
	unsigned long value;
	size_t i;

	if (!text)
		return false;
	*text++ = '\0';
	value = strtoul(text, &end, 0);
	for (i = 0; i < sizeof(svb_made_keys) / sizeof(*svb_made_keys); i++) {
		if (strcmp(svb_made_keys[i].name, word))
			continue;
		*(uint32_t *)((char *)group + svb_made_keys[i].offset) = (uint32_t)value;
		return end != text && !*end && value <= svb_made_keys[i].most;
	}
	return false;
}

/* What is not said is as in IPoIB's groups, whose GIDs have the P_Key. */
static bool svb_made_parse(struct svb_made_group *group, char *word)
{
	char *save, *at = strtok_r(word, ",", &save);
	bool ok = at && inet_pton(AF_INET6, at, group->mgid) == 1;

	group->qkey = 0xb1b;
	group->pkey = (uint32_t)group->mgid[4] << 8 | group->mgid[5];
	while (ok && (at = strtok_r(NULL, ",", &save)))
		ok = svb_made_set(group, at);
	return ok && group->mgid[0] == 0xff;
}

bool svb_made_groups_parse(struct svb_made_groups *groups, const char *text)
{
	char *copy = strdup(text), *word, *save;
	bool ok = copy;

	memset(groups, 0, sizeof(*groups));
	groups->automatic = !strcmp(text, "auto");
	if (groups->automatic || !strcmp(text, "none")) {
		free(copy);
		return ok;
	}
	for (word = ok ? strtok_r(copy, " ", &save) : NULL; word && ok;
	     word = strtok_r(NULL, " ", &save))
		ok = groups->count < SVB_MAX_MADE_GROUPS &&
		     svb_made_parse(&groups->group[groups->count++], word);
	free(copy);
	return ok;
}
