# SPDX-License-Identifier: BSD-2-Clause
# The groups of an IPoIB link, as a convenience library: no provider, no device.
EXTRA_DIST += prov/pverbs/groups/groups.h prov/pverbs/groups/local.mk
