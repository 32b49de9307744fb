# SPDX-License-Identifier: BSD-2-Clause
# rdmavm: the command, and the parts it finds in its folder.
rdmavmdir = $(pkgdatadir)/rdmavm
rdmavm_bin = %D%/rdmavm/rdmavm
dist_rdmavm_DATA = %D%/rdmavm/accel.sh %D%/rdmavm/chroot.sh %D%/rdmavm/common.sh \
	%D%/rdmavm/guest.sh %D%/rdmavm/image.sh %D%/rdmavm/packages.list %D%/rdmavm/recipe.sh \
	%D%/rdmavm/vm.sh
dist_rdmavm_SCRIPTS = %D%/rdmavm/chroot-enter %D%/rdmavm/guest-boot %D%/rdmavm/guest-run \
	%D%/rdmavm/guest-setup

# The line "parts=" says where the parts are.
install-exec-local:
	$(MKDIR_P) $(DESTDIR)$(bindir)
	sed 's|^parts=.*|parts=$(rdmavmdir)|' $(srcdir)/$(rdmavm_bin) >$(DESTDIR)$(bindir)/rdmavm
	chmod 755 $(DESTDIR)$(bindir)/rdmavm
uninstall-local:
	rm -f $(DESTDIR)$(bindir)/rdmavm

# For sources that use one of these libraries. libtirpc has folders with names of ours (rpc).
util_include = -I$(srcdir)/%D% -I%D% $(TIRPC_CFLAGS)
%D%/rpcmsg/%.o: private AM_CPPFLAGS += $(util_include)
# Libraries of these programs, not installed: tables to print, connections, RPC message headers.
noinst_LIBRARIES += %D%/grid/libgrid.a %D%/link/liblink.a %D%/rpcmsg/librpcmsg.a
%C%_grid_libgrid_a_SOURCES = %D%/grid/grid.c %D%/grid/grid.h
%C%_link_liblink_a_SOURCES = %D%/link/link.c %D%/link/link.h %D%/link/loopback.h %D%/link/rpc.c %D%/link/rpc.h \
	%D%/link/state.c
%C%_rpcmsg_librpcmsg_a_SOURCES = %D%/rpcmsg/head.c %D%/rpcmsg/head.h
nodist_%C%_rpcmsg_librpcmsg_a_SOURCES = %D%/rpcmsg/rpcmsg.h %D%/rpcmsg/rpcmsg_xdr.c
rpc_stubs += $(nodist_%C%_rpcmsg_librpcmsg_a_SOURCES)
rpcmsg_libs = %D%/rpcmsg/librpcmsg.a %D%/link/liblink.a $(LIBFABRIC_LIBS) $(TIRPC_LIBS)

TESTS += %D%/lib/test-params.sh
EXTRA_DIST += $(rdmavm_bin) %D%/bench %D%/check %D%/checks %D%/lib %D%/packages.list %D%/quickstart \
	%D%/rdmavm/test-rdmavm %D%/rpcmsg/rpcmsg.x
