# SPDX-License-Identifier: BSD-2-Clause
# Proofs of a shared key: no device, no provider.
unit_tests += fabtests/unit/unit_route_auth
fabtests_unit_unit_route_auth_SOURCES = %D%/test_proof.c %D%/test_ring.c
fabtests_unit_unit_route_auth_LDADD = $(ct_libs) $(route_peer_libs)
