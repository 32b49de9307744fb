/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define SCHEME "nfs://"

/* text[0..len) into at; false: too long or empty. */
static bool copy(char *at, size_t room, const char *text, size_t len)
{
	if (!len || len >= room)
		return false;
	memcpy(at, text, len);
	at[len] = '\0';
	return true;
}

/* Host and port up to end; an address of IPv6 is in brackets. */
static bool place(const char *text, const char *end, struct nfg_options *options)
{
	const char *host = text, *host_end, *colon, *digit;

	if (*text == '[') {
		host++;
		host_end = memchr(text, ']', (size_t)(end - text));
		if (!host_end)
			return false;
		colon = host_end + 1;
	} else {
		host_end = memchr(text, ':', (size_t)(end - text));
		if (!host_end)
			host_end = end;
		colon = host_end;
	}
	if (!copy(options->host, sizeof(options->host), host, (size_t)(host_end - host)))
		return false;
	if (colon == end)
		return true;
	for (digit = colon + 1; digit < end; digit++)
		if (!isdigit((unsigned char)*digit))
			return false;
	return *colon == ':' && copy(options->port, sizeof(options->port), colon + 1,
				     (size_t)(end - colon - 1));
}

/* RFC 3986 section 2.1. */
static bool decode(char *at, size_t room, const char *text)
{
	char hex[3] = "";

	for (; *text; text++, at++, room--) {
		if (room < 2)
			return false;
		*at = *text;
		if (*text != '%')
			continue;
		if (!isxdigit((unsigned char)text[1]) ||
		    !isxdigit((unsigned char)text[2]))
			return false;
		memcpy(hex, text + 1, 2);
		*at = (char)strtol(hex, NULL, 16);
		if (!*at)
			return false;
		text += 2;
	}
	*at = '\0';
	return true;
}

bool nfg_url(const char *url, struct nfg_options *options)
{
	const char *host = url + strlen(SCHEME), *path;

	if (strncmp(url, SCHEME, strlen(SCHEME)) != 0)
		return false;
	path = strchr(host, '/');
	return path && place(host, path, options) &&
	       decode(options->path, sizeof(options->path), path) &&
	       options->path[strlen(options->path) - 1] != '/';
}
