# SPDX-License-Identifier: BSD-2-Clause
# Credits alone, as a convenience library: peers are linked with it, unit tests, and the model.
noinst_LTLIBRARIES += prov/route/flow/libflow.la
prov_route_flow_libflow_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/route $(LIBFABRIC_CFLAGS)
prov_route_flow_libflow_la_SOURCES = \
	prov/route/flow/credit.c \
	prov/route/flow/flow.h
EXTRA_DIST += prov/route/flow/local.mk
