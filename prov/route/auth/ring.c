/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <openssl/crypto.h>
#include <rdma/fi_errno.h>
#include "auth.h"

int rte_auth_ring_read(const struct rte_config_device *device, struct rte_auth_ring **out,
		       char why[256])
{
	struct rte_auth_ring *ring;
	struct rte_auth_key *key;
	size_t len;
	int ret;

	*out = NULL;
	if (!device->keys)
		return 0;
	ring = calloc(1, sizeof(*ring));
	if (!ring)
		return -FI_ENOMEM;
	for (; ring->keys < device->keys; ring->keys++) {
		key = &ring->key[ring->keys];
		ret = rte_config_key_read(&device->key[ring->keys], key->secret, &len,
					  why);
		if (ret) {
			rte_auth_ring_free(ring);
			return ret;
		}
		key->id = device->key[ring->keys].id;
		key->len = (uint32_t)len;
	}
	*out = ring;
	return 0;
}

void rte_auth_ring_free(struct rte_auth_ring *ring)
{
	if (!ring)
		return;
	OPENSSL_cleanse(ring, sizeof(*ring));
	free(ring);
}

const struct rte_auth_key *rte_auth_ring_find(const struct rte_auth_ring *ring,
					      uint32_t id)
{
	uint32_t i;

	for (i = 0; ring && i < ring->keys; i++)
		if (ring->key[i].id == id)
			return &ring->key[i];
	return NULL;
}
