# rdmavm: the command, and the parts it finds in its folder.
rdmavmdir = $(pkgdatadir)/rdmavm
rdmavm_bin = util/rdmavm/rdmavm
dist_rdmavm_DATA = \
	util/rdmavm/accel.sh \
	util/rdmavm/chroot.sh \
	util/rdmavm/common.sh \
	util/rdmavm/guest.sh \
	util/rdmavm/image.sh \
	util/rdmavm/packages.list \
	util/rdmavm/recipe.sh \
	util/rdmavm/vm.sh
dist_rdmavm_SCRIPTS = \
	util/rdmavm/chroot-enter \
	util/rdmavm/guest-boot \
	util/rdmavm/guest-run \
	util/rdmavm/guest-setup

# The line "parts=" says where the parts are.
install-exec-local:
	$(MKDIR_P) $(DESTDIR)$(bindir)
	sed 's|^parts=.*|parts=$(rdmavmdir)|' $(srcdir)/$(rdmavm_bin) >$(DESTDIR)$(bindir)/rdmavm
	chmod 755 $(DESTDIR)$(bindir)/rdmavm
uninstall-local:
	rm -f $(DESTDIR)$(bindir)/rdmavm

EXTRA_DIST += \
	$(rdmavm_bin) \
	util/bench \
	util/check \
	util/checks/builds.sh \
	util/checks/explore.sh \
	util/checks/guest.sh \
	util/checks/install.sh \
	util/checks/layer.sh \
	util/checks/multicast.sh \
	util/checks/parts.sh \
	util/checks/reach \
	util/checks/route.sh \
	util/checks/rpc.sh \
	util/checks/rpcrdma.sh \
	util/checks/sanitizers.sh \
	util/checks/simverbs.sh \
	util/checks/style.sh \
	util/checks/tcp.sh \
	util/checks/unit.sh \
	util/lib/bench.sh \
	util/lib/changed.sh \
	util/lib/check-coverage \
	util/lib/check-rooms \
	util/lib/conformance \
	util/lib/draw-failover \
	util/lib/draw-parts \
	util/lib/draw-rooms \
	util/lib/draw-speed \
	util/lib/graph.sh \
	util/lib/history.sh \
	util/lib/run.sh \
	util/lib/setup.sh \
	util/lib/steps.sh \
	util/lib/summary.sh \
	util/lib/test-check \
	util/lib/test-params.sh \
	util/local.mk \
	util/packages.list \
	util/quickstart \
	util/rdmavm/test-rdmavm
TESTS += util/lib/test-params.sh
