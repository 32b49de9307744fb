/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "say.h"

#define WORD 4
#define PROGRAM 0x20001234

uint8_t say_byte(uint32_t xid, size_t i)
{
	return (uint8_t)((xid * 2654435761U >> 24) + i * 7 + (i >> 8));
}

void say_body(void *buf, uint32_t xid, size_t from, size_t len)
{
	uint8_t *out = buf;

	for (size_t i = 0; i < len; i++)
		out[i] = say_byte(xid, from + i);
}

void say_word(void *buf, size_t at, uint32_t word)
{
	uint8_t *out = (uint8_t *)buf + at * WORD;

	out[0] = (uint8_t)(word >> 24);
	out[1] = (uint8_t)(word >> 16);
	out[2] = (uint8_t)(word >> 8);
	out[3] = (uint8_t)word;
}

uint32_t say_read(const void *bytes, size_t at)
{
	const uint8_t *in = (const uint8_t *)bytes + at * WORD;

	return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 |
	       in[3];
}

static void say(void *buf, uint32_t xid, const uint32_t *words, size_t count, size_t len)
{
	say_body(buf, xid, 0, len);
	for (size_t i = 0; i < count && (i + 1) * WORD <= len; i++)
		say_word(buf, i, words[i]);
}

/* xid, CALL, rpcvers, prog, vers, proc, credentials, verifier */
static void call_words(uint32_t words[10], uint32_t xid)
{
	const uint32_t all[10] = {xid, 0, 2, PROGRAM + (xid & 1), 1, 1, SAY_AUTH_NONE,
				  0,   0, 0};

	memcpy(words, all, sizeof(all));
}

void say_call(void *buf, uint32_t xid, size_t len)
{
	uint32_t words[10];

	call_words(words, xid);
	say(buf, xid, words, 10, len);
}

/* xid, REPLY, MSG_ACCEPTED, verifier, SUCCESS */
void say_reply(void *buf, uint32_t xid, size_t len)
{
	const uint32_t words[6] = {xid, 1, 0, 0, 0, 0};

	say(buf, xid, words, 6, len);
}

size_t say_call_as(void *buf, uint32_t xid, enum say_flavor flavor,
		   enum say_service service, size_t len)
{
	/* RPCSEC_GSS: version, procedure DATA, sequence number, service, empty handle.
	 * AUTH_SYS: stamp, empty machine name, uid, gid, no more groups. */
	const uint32_t body[5] = {1, 0, 7,
				  flavor == SAY_RPCSEC_GSS ? (uint32_t)service : 0, 0};
	uint32_t words[15] = {0};

	call_words(words, xid);
	words[6] = (uint32_t)flavor;
	words[7] = sizeof(body);
	memcpy(&words[8], body, sizeof(body));
	say(buf, xid, words, 15, len);
	return sizeof(words);
}

static bool same(const void *bytes, uint32_t xid, size_t len,
		 void (*make)(void *buf, uint32_t xid, size_t len))
{
	void *wanted = malloc(len ? len : 1);
	bool is;

	make(wanted, xid, len);
	is = !memcmp(bytes, wanted, len);
	free(wanted);
	return is;
}

bool say_is_call(const void *bytes, uint32_t xid, size_t len)
{
	return same(bytes, xid, len, say_call);
}

bool say_is_reply(const void *bytes, uint32_t xid, size_t len)
{
	return same(bytes, xid, len, say_reply);
}
