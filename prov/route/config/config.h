/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration of one host, a client or a router: an INI file in the manner of the
 * document "Routing Heterogeneous CCI Subnets", section VII.A.1. fi_route(7) has every
 * keyword.
 *
 *	[routing]	what clients and routers may say
 *	[router]	what a router says; without this section it is a client
 *	[NAME]		a device
 *
 * A value that the file does not have is its default. An object is used by one thread at
 * a time, and never changes.
 *
 * Included as "config/config.h": configure makes a config.h of its own.
 */
#ifndef RTE_CONFIG_H
#define RTE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include "topo/topo.h"
#include "uri.h"

#define RTE_CONFIG_FILE_MAX (1u << 20) /* bytes */
/* Bytes of a line without its end and the white space around it: what inih takes. */
#define RTE_CONFIG_LINE_MAX 198u
#define RTE_CONFIG_NAME_MAX 48u /* of a device or a router */
#define RTE_CONFIG_DEVICES_MAX RTE_LINKS_MAX
#define RTE_CONFIG_ROUTERS_MAX 64u /* of a device */
#define RTE_CONFIG_PREFIXES_MAX 1024u
#define RTE_CONFIG_STATICS_MAX 256u
#define RTE_CONFIG_STATIC_MAX (RTE_HOPS_MAX + 1) /* subnets of one route */
#define RTE_CONFIG_ACLS_MAX 256u
#define RTE_CONFIG_KEYS_MAX 2u
#define RTE_CONFIG_KEY_MAX 4096u /* bytes of a key file */
#define RTE_WORKERS_MAX 16u	 /* threads that pass on connections */

/* --- What is wrong (errors.c) --- */

#define RTE_CONFIG_ERRORS_MAX 20u

struct rte_config_error {
	char file[128]; /* its end, if the name is longer */
	uint32_t line;	/* 0: of the whole file */
	bool warning;
	char text[224];
	char hint[96]; /* what to write instead; "": none */
};

/* The caller's; to begin with all 0. */
struct rte_config_errors {
	uint32_t errors, warnings; /* all */
	uint32_t count;		   /* those that are kept, in error */
	struct rte_config_error error[RTE_CONFIG_ERRORS_MAX];
};

/* "FILE:LINE: [warning: ]TEXT[ (HINT)]" for each, and a line for those not kept. */
void rte_config_errors_print(const struct rte_config_errors *errors, FILE *out);

/* --- What a file says --- */

/* A subnet of an AS, or a WAN (as RTE_AS_WAN). */
struct rte_subnet {
	uint32_t as;
	uint32_t subnet;
};

/* "prefix = 10.0.2.0/24 -> 3:2" */
struct rte_config_prefix {
	int family; /* AF_INET or AF_INET6 */
	uint8_t addr[16];
	uint8_t bits;
	struct rte_subnet to;
	uint32_t line;
};

/* "static = 3,2,1,0:0": subnets from the source on, at least two, none twice. */
struct rte_config_static {
	struct rte_subnet *subnet;
	uint32_t subnets;
	uint32_t line;
};

/* One side of "acl = 3:1 -> 4:*". */
struct rte_config_match {
	bool any_as;
	bool any_subnet; /* of that AS; true where any_as is */
	struct rte_subnet subnet;
};

/* Connections from -> to are allowed. Without any acl all are. */
struct rte_config_acl {
	struct rte_config_match from, to;
	uint32_t line;
};

struct rte_config_uri {
	char *text; /* as rte_uri_print writes it; NULL: none */
	struct rte_uri uri;
	uint32_t line;
};

/* A shared secret. The first of a device is used, all are accepted. */
struct rte_config_key {
	uint32_t id;
	char *file;
	uint32_t line;
};

enum rte_auth { RTE_AUTH_OPEN, RTE_AUTH_REQUIRED };
/* How data goes from hop to hop: written into slots that the next one has granted. */
enum rte_transfer { RTE_TRANSFER_PUSH };

struct rte_config_device {
	char *name; /* of the section */
	uint32_t line;
	enum rte_transport transport;
	bool has_as, has_subnet;
	struct rte_subnet at;
	/*
	 * Takes part in routing. A client's: as, subnet and router are there (section
	 * VII.A.1); a router's: as and subnet.
	 */
	bool routable;
	struct rte_config_uri *router; /* those to connect to */
	uint32_t routers;
	char *provider;	       /* one of those of the transport; NULL: the first there */
	char *fabric, *domain; /* names of the lower provider's; NULL: any */
	uint32_t frag;	       /* bytes at most of a piece of an operation */
	enum rte_transfer transfer;
	enum rte_auth auth;
	struct rte_config_key *key;
	uint32_t keys;
	/* Of routers alone. */
	struct rte_config_uri uri; /* where it listens */
	uint32_t peer_as;	   /* a private WAN to that AS; 0: none */
	bool transit;
	uint64_t rate;	  /* bit/s; 0: what the device says */
	uint32_t latency; /* ns; 0: unknown */
	uint32_t cost;	  /* milli-units; 0: none */
	uint16_t caps;	  /* enum rte_cap, RTE_CAP_NOTRANSIT as transit has it */
};

/* [routing] */
struct rte_config_routing {
	struct rte_config_prefix *prefix;
	uint32_t prefixes;
	uint16_t port_first, port_last; /* to listen on; 0: any */
	uint32_t heartbeat;		/* ms between two */
	uint32_t heartbeat_loss;	/* so many missing: the router is gone */
	uint32_t connect_timeout;	/* ms */
};

/* [router] */
struct rte_config_router {
	uint32_t line;
	uint32_t as; /* of its devices but those on a WAN */
	uint64_t id;
	char *name;
	struct rte_policy policy;
	struct rte_config_static *route;
	uint32_t routes;
	struct rte_config_acl *acl;
	uint32_t acls;
	char *control;	      /* path of a socket */
	char *metrics;	      /* of rte_listen_parse: HTTP; NULL: none */
	uint32_t workers;     /* 0: as many as fit (fi_router(8)) */
	uint32_t connections; /* of one client; so are the next two */
	uint32_t slots;
	uint32_t resolves;
	uint32_t refresh;		/* ms between LSAs; they live 3 times as long */
	uint32_t hold_first, hold_last; /* ms from a change to its LSA */
};

struct rte_config {
	char *file;
	bool is_router;
	struct rte_config_routing routing;
	struct rte_config_router router; /* all 0: it is a client */
	struct rte_config_device *device;
	uint32_t devices;
};

/*
 * All of one file, with everything that is wrong in errors; warnings stand there as well
 * when it is 0. -FI_EINVAL: there are errors; -FI_ENOMEM; *config is NULL then.
 */
int rte_config_read(const char *path, struct rte_config **config,
		    struct rte_config_errors *errors);
/* The same of text; name stands in the errors. */
int rte_config_parse(const char *text, size_t len, const char *name,
		     struct rte_config **config, struct rte_config_errors *errors);
/* NULL is allowed. */
void rte_config_free(struct rte_config *config);

/* A file that is read as the same configuration. -FI_EIO: out has an error. */
int rte_config_write(FILE *out, const struct rte_config *config);

/*
 * Key files are there, regular, of this user or root, of at least 16 and at most 4096
 * bytes, and nobody else may read or write them: 0 or -FI_EINVAL.
 */
int rte_config_check_keys(const struct rte_config *config,
			  struct rte_config_errors *errors);
/*
 * Warns of each uri whose name is a loopback address in this host's /etc/hosts, where
 * Debian puts the host's own name (127.0.1.1). One thread at a time (gethostent(3)).
 */
void rte_config_check_names(const struct rte_config *config,
			    struct rte_config_errors *errors);
/* The bytes of one that is so; -FI_EINVAL: it is not, and why is for people. */
int rte_config_key_read(const struct rte_config_key *key,
			uint8_t secret[RTE_CONFIG_KEY_MAX], size_t *len, char why[256]);

/*
 * What files say together, clients among them: 0, or -FI_EINVAL: there are errors;
 * -FI_ENOMEM. Warnings leave it 0.
 */
int rte_config_check_set(struct rte_config *const *configs, uint32_t count,
			 struct rte_config_errors *errors);

/* The longest prefix with that address, or NULL. IPv4 in IPv6 counts as IPv4. */
const struct rte_config_prefix *rte_config_prefix_find(const struct rte_config *config,
						       const struct sockaddr *addr);
/* "PORT" of the loopback, "IPV4:PORT", "[IPV6]:PORT": 0 or -FI_EINVAL (listen.c). */
int rte_listen_parse(const char *text, struct sockaddr_storage *addr);
bool rte_config_allows(const struct rte_config *config, struct rte_subnet from,
		       struct rte_subnet to);

#endif
