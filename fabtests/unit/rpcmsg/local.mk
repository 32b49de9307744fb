# SPDX-License-Identifier: BSD-2-Clause
# Heads of RPC messages: no device.
%D%/%.o: private AM_CPPFLAGS += $(util_include)
unit_tests += fabtests/unit/unit_rpcmsg
fabtests_unit_unit_rpcmsg_SOURCES = %D%/test_head.c
fabtests_unit_unit_rpcmsg_LDADD = $(ct_libs) $(rpcmsg_libs)
