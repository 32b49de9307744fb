# SPDX-License-Identifier: BSD-2-Clause
# The router daemon: its decisions, and what it exchanges with others, over peers that are made up.
unit_tests += fabtests/unit/unit_router
fabtests_unit_unit_router_SOURCES = %D%/fake_net.c %D%/fake_net.h %D%/one.c %D%/one.h \
	%D%/test_adjacency.c %D%/test_ask.c %D%/test_control.c %D%/test_convert.c \
	%D%/test_device.c %D%/test_documents.c %D%/test_drain.c %D%/test_fault.c \
	%D%/test_figures.c %D%/test_log.c %D%/test_own.c %D%/test_ready.c %D%/test_refusal.c \
	%D%/test_reload.c %D%/test_request.c %D%/test_turn.c %D%/test_worker.c %D%/world.c \
	%D%/world.h fabtests/unit/route_config/conf.c fabtests/unit/route_config/conf.h \
	fabtests/unit/route_fake/fake_peer.c fabtests/unit/route_fake/fake_peer.h \
	util/fi_routectl/between.c util/fi_routectl/fail.c util/fi_routectl/pair.c \
	util/fi_routectl/sim.c
fabtests_unit_unit_router_LDFLAGS = $(AM_LDFLAGS) $(CT_WRAP_TIME)
fabtests_unit_unit_router_LDADD = $(ct_libs) $(router_libs)
