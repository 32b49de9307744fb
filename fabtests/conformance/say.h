/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RPC messages (RFC 5531 section 9) with a body by which they are known again. Calls of
 * odd and of even XIDs are those of two programs.
 */
#ifndef CONF_SAY_H
#define CONF_SAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The shortest Call and Reply that are whole: all fixed words, no arguments or results.
 */
#define SAY_CALL_MIN 40
#define SAY_REPLY_MIN 24

enum say_flavor { SAY_AUTH_NONE = 0, SAY_AUTH_SYS = 1, SAY_RPCSEC_GSS = 6 };
/* rpc_gss_svc of RFC 2203 */
enum say_service { SAY_GSS_NONE = 1, SAY_GSS_INTEGRITY = 2, SAY_GSS_PRIVACY = 3 };

/* Byte i of the body of a message with that XID. */
uint8_t say_byte(uint32_t xid, size_t i);
/* Fills len bytes, of which the first is byte from. */
void say_body(void *buf, uint32_t xid, size_t from, size_t len);

/*
 * A message of len bytes; what does not fit is cut off, bytes 8 and later of the body
 * are say_body's.
 */
void say_call(void *buf, uint32_t xid, size_t len);
void say_reply(void *buf, uint32_t xid, size_t len);
/* A Call with credentials; returns how long they make the head of it. */
size_t say_call_as(void *buf, uint32_t xid, enum say_flavor flavor,
		   enum say_service service, size_t len);

/* Are these the len bytes that say_call or say_reply made? */
bool say_is_call(const void *bytes, uint32_t xid, size_t len);
bool say_is_reply(const void *bytes, uint32_t xid, size_t len);

void say_word(void *buf, size_t at, uint32_t word); /* at: in words */
uint32_t say_read(const void *bytes, size_t at);

#endif
