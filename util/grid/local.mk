# SPDX-License-Identifier: BSD-2-Clause
# Tables that the programs of util print; not installed.
noinst_LTLIBRARIES += util/grid/libgrid.la
util_grid_libgrid_la_SOURCES = util/grid/grid.c util/grid/grid.h
util_grid_libgrid_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)

EXTRA_DIST += util/grid/local.mk
