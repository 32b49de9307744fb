/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Proofs of a shared key (auth/auth.h), between HELLO and the first message that is
 * anybody's business. Both prove themselves where one of both asks for it
 * (RTE_PREAMBLE_AUTH), so that neither bit that somebody has taken away lets anybody in:
 * who asks waits for a proof, whatever the other one has heard.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include "inside.h"

static __attribute__((format(printf, 4, 5))) void denied(const struct rte_port *port,
							 enum rte_denial why,
							 const union crn_addr *who,
							 const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (port->attr.denied)
		port->attr.denied(port->attr.context, why, who, text);
	else if (port->attr.log)
		port->attr.log(port->attr.context, text);
}

/* --- Preambles --- */

uint8_t auth_flags(const struct rte_port *port)
{
	uint8_t flags = 0;

	if (port->net->device->auth == RTE_AUTH_REQUIRED)
		flags |= RTE_PREAMBLE_AUTH;
	if (port->attr.keys)
		flags |= RTE_PREAMBLE_KEY;
	return flags;
}

bool auth_asked(const struct rte_peer *peer)
{
	return (peer->local.flags | peer->remote.flags) & RTE_PREAMBLE_AUTH;
}

bool auth_hopeless(const struct rte_port *port, uint8_t local,
		   const struct rte_preamble *remote, const union crn_addr *who)
{
	char text[CRN_ADDR_STRLEN];

	if (!((local | remote->flags) & RTE_PREAMBLE_AUTH))
		return false;
	crn_addr_str(&who->sa, text);
	if (!(local & RTE_PREAMBLE_KEY)) {
		denied(port, RTE_DENIED_NO_KEY, who,
		       "%s is not spoken with: there is to be a proof, and this device "
		       "has no key (key_file, key_id)",
		       text);
		return true;
	}
	if (remote->flags & RTE_PREAMBLE_KEY)
		return false;
	denied(port, RTE_DENIED_NO_PROOF, who,
	       "%s is not let in: it has no key to prove itself; if it is to, its device "
	       "needs a key of this one (key_file, key_id)",
	       text);
	return true;
}

/* --- Proofs --- */

static enum rte_auth_step own_step(const struct rte_peer *peer)
{
	return peer->active ? RTE_AUTH_ACTIVE : RTE_AUTH_PASSIVE;
}

static enum rte_auth_step other_step(const struct rte_peer *peer)
{
	return peer->active ? RTE_AUTH_PASSIVE : RTE_AUTH_ACTIVE;
}

/* NULL: no memory. Then a replay is a wrong proof. */
static struct rte_auth_heard *heard_at(struct rte_port *port)
{
	if (port->attr.heard)
		return port->attr.heard;
	if (!port->heard)
		port->heard = calloc(1, sizeof(*port->heard));
	return port->heard;
}

static void hear(struct rte_port *port, const uint8_t *hmac)
{
	struct rte_auth_heard *heard = heard_at(port);

	if (heard)
		rte_auth_hear(heard, hmac);
}

static bool was_heard(struct rte_port *port, const uint8_t *hmac)
{
	const struct rte_auth_heard *heard = heard_at(port);

	return heard && rte_auth_was_heard(heard, hmac);
}

static void prove(struct rte_peer *peer, const struct rte_auth_key *key)
{
	struct rte_auth_proof proof = {.key_id = key->id, .step = own_step(peer)};
	struct rte_packet packet = {.head.type = RTE_AUTH};
	struct rte_tx *tx = send_control(peer);
	ssize_t len;

	if (!tx || !rte_auth_prove(&peer->in->talk, key, own_step(peer), proof.hmac)) {
		if (tx)
			rte_tx_drop(tx);
		peer_fail(peer, FI_ENOMEM);
		return;
	}
	hear(peer->port, proof.hmac);
	len = rte_auth_proof_pack(&packet, &proof, tx->bytes, tx->room);
	tx->len = (size_t)len;
	rte_tx_post(tx);
}

bool auth_begins(struct rte_peer *peer)
{
	const struct rte_auth_ring *keys = peer->port->attr.keys;

	if (!auth_asked(peer))
		return false;
	peer->state = RTE_PEER_PROVING;
	if (!peer->local.nonce) {
		port_log(peer->port,
			 "%s is not spoken with: this machine gives no random number for "
			 "a proof (getrandom(2))",
			 peer->text);
		peer_fail(peer, FI_EIO);
		return true;
	}
	if (!peer->active)
		return true;
	if (keys) {
		peer->in->key_id = keys->key[0].id;
		prove(peer, &keys->key[0]);
	} else {
		peer_fail(peer, FI_EACCES);
	}
	return true;
}

static void deny(struct rte_peer *peer, enum rte_denial why, const char *what,
		 uint32_t key_id)
{
	if (peer->in->failed || peer->in->closed)
		return;
	peer->in->denied = true;
	denied(peer->port, why, &peer->address, "%s is not let in: %s (key_id %u)",
	       peer->text, what, key_id);
	peer_fail(peer, FI_EACCES);
}

/* NULL: it is denied. Who accepted answers by the same key. */
static const struct rte_auth_key *auth_key(struct rte_peer *peer,
					   const struct rte_auth_proof *proof)
{
	const struct rte_auth_key *key =
		rte_auth_ring_find(peer->port->attr.keys, proof->key_id);

	if (peer->active && proof->key_id != peer->in->key_id)
		key = NULL;
	if (!key)
		deny(peer, RTE_DENIED_KEY_ID,
		     "this device has no such key, or was not asked for it; both need "
		     "one in common",
		     proof->key_id);
	return key;
}

static bool auth_good(struct rte_peer *peer, const struct rte_auth_key *key,
		      const struct rte_auth_proof *proof)
{
	if (rte_auth_proves(&peer->in->talk, key, other_step(peer), proof->hmac))
		return true;
	deny(peer, RTE_DENIED_KEY,
	     "its proof is wrong; are both key files the same? if so, somebody has "
	     "changed what was said",
	     proof->key_id);
	return false;
}

void auth_take(struct rte_peer *peer, const struct rte_packet *packet)
{
	const struct rte_auth_key *key;
	struct rte_auth_proof proof;
	enum rte_bad bad = rte_auth_proof_parse(&proof, packet);

	if (bad != RTE_OK || peer->state != RTE_PEER_PROVING) {
		rte_peer_bad(peer,
			     bad != RTE_OK ? rte_bad_text(bad) : "AUTH out of turn");
		return;
	}
	if (was_heard(peer->port, proof.hmac)) {
		deny(peer, RTE_DENIED_REPLAY, "its proof is one of another connection",
		     proof.key_id);
		return;
	}
	if (proof.step != other_step(peer)) {
		deny(peer, RTE_DENIED_NO_PROOF, "its proof is one of the other end",
		     proof.key_id);
		return;
	}
	key = auth_key(peer, &proof);
	if (!key || !auth_good(peer, key, &proof))
		return;
	hear(peer->port, proof.hmac);
	if (!peer->active)
		prove(peer, key);
	if (peer->state == RTE_PEER_PROVING)
		peer_up(peer);
}

/* --- Without one --- */

void auth_missed(struct rte_peer *peer, const char *what, int err)
{
	if (peer->in->failed || peer->in->closed)
		return;
	peer->in->denied = true;
	denied(peer->port, RTE_DENIED_NO_PROOF, &peer->address,
	       "%s is not let in: it %s, where its proof was to come", peer->text, what);
	peer_fail(peer, err);
}

void auth_unheard(struct rte_peer *peer)
{
	if (peer->in->failed || peer->in->closed)
		return;
	if (peer->in->key_id)
		port_log(peer->port,
			 "%s does not accept this device's proof (key_id %u): both need "
			 "the same key; its log says more",
			 peer->text, peer->in->key_id);
	else
		port_log(peer->port,
			 "%s lets in only those that have a key of its device, or has "
			 "none itself: key_file, key_id, auth; its log says more",
			 peer->text);
	peer_fail(peer, FI_EACCES);
}
