/* SPDX-License-Identifier: BSD-2-Clause */
/* Socket addresses: IPv4 and IPv6. All functions are pure but for crn_addr_resolve and
 * crn_addr_source. */
#ifndef CRN_ADDR_H
#define CRN_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <netinet/in.h>
#include <sys/socket.h>

union crn_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_storage ss;
};

/* Longest text of crn_addr_str with its end: "[v6%scope]:port". */
#define CRN_ADDR_STRLEN 80

/* Bytes of the address; 0 for a family that is neither IPv4 nor IPv6. */
size_t crn_addr_len(const struct sockaddr *sa);

/* FI_SOCKADDR_IN, FI_SOCKADDR_IN6, or FI_FORMAT_UNSPEC for another family. */
uint32_t crn_addr_format(const struct sockaddr *sa);

/*
 * True when an address of len bytes may be read as its family says and is what format
 * (FI_FORMAT_UNSPEC, FI_SOCKADDR, _IN, _IN6) allows. Check an address from an
 * application with it before use.
 */
bool crn_addr_valid(const void *addr, size_t len, uint32_t format);

/* True when host parts are the same (ports are not compared; a scope id counts when both
 * have one). */
bool crn_addr_same_host(const struct sockaddr *a, const struct sockaddr *b);
bool crn_addr_is_any(const struct sockaddr *sa);
bool crn_addr_is_loopback(const struct sockaddr *sa);
bool crn_addr_is_linklocal(const struct sockaddr *sa);

/* Port in host byte order. */
uint16_t crn_addr_port(const struct sockaddr *sa);
void crn_addr_set_port(struct sockaddr *sa, uint16_t port);

/* A malloc'ed copy with its exact length, or NULL. */
void *crn_addr_dup(const struct sockaddr *sa);

/*
 * Copies an address the way fi_getname does: up to *addrlen bytes, *addrlen becomes the
 * full length; -FI_ETOOSMALL when it did not fit.
 */
int crn_addr_copy_out(const struct sockaddr *sa, void *addr, size_t *addrlen);

/* "1.2.3.4:80", "[fe80::1%2]:80" or "(unknown family N)"; returns buf. */
const char *crn_addr_str(const struct sockaddr *sa, char buf[CRN_ADDR_STRLEN]);

/*
 * node and service as fi_getinfo(3) has them, through getaddrinfo(3): either may be
 * NULL, not both. passive: a NULL node is the wildcard address rather than loopback.
 * numeric: FI_NUMERICHOST. family AF_UNSPEC, AF_INET or AF_INET6. 0, -FI_ENODATA when the
 * name has no such address, -FI_ENOMEM.
 */
int crn_addr_resolve(const char *node, const char *service, int family, bool passive,
		     bool numeric, union crn_addr *out);
/* All addresses of a name, at most so many, in the order of getaddrinfo(3): their number,
 * at least 1, or as above. */
int crn_addr_resolve_all(const char *node, const char *service, int family,
			 union crn_addr *out, uint32_t most);

/*
 * The local address the kernel would use toward dest (a connected UDP socket tells; no
 * packet is sent), port 0. 0, -FI_ENETUNREACH, or another -errno.
 */
int crn_addr_source(const struct sockaddr *dest, union crn_addr *out);

#endif
