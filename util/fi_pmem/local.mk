# SPDX-License-Identifier: BSD-2-Clause
# fi_pmem shows what pverbs knows of persistent memory; it is made of the provider's parts.
%D%/%.o: private AM_CPPFLAGS += -I$(srcdir)/prov/pverbs
bin_PROGRAMS += %D%/fi_pmem
%C%_fi_pmem_SOURCES = %D%/fi_pmem.c %D%/fi_pmem.h %D%/memory.c %D%/methods.c
%C%_fi_pmem_LDADD = $(pverbs_libs)
TESTS += %D%/test-fi_pmem.sh
EXTRA_DIST += %D%/test-fi_pmem.sh
