# shellcheck shell=bash
# The Linux kernel's NFS server over RDMA for one export, for scripts that run as root in the guest of rdmavm(1).
: "${export?}"
knfsd_control=/proc/fs/nfsd knfsd_started='' knfsd_mountd=''

# knfsd_start [COMMAND...]: COMMAND is run when the export is there and nobody is served yet.
knfsd_start() {
	knfsd_started=yes
	modprobe nfsd && modprobe rpcrdma || return
	mountpoint -q "$knfsd_control" || mount -t nfsd nfsd "$knfsd_control" || return
	mkdir -p /var/lib/nfs/v4recovery /run/rpc_pipefs
	pgrep -x rpcbind >/dev/null || rpcbind || return
	rpc.mountd --foreground >/dev/null 2>&1 &
	knfsd_mountd=$!
	exportfs -o rw,no_root_squash,no_subtree_check,insecure,crossmnt,fsid=0 "*:$export" || return
	[ $# = 0 ] || "$@" || return
	# A READ of 1 MiB, whatever memory the guest has.
	echo 1048576 >"$knfsd_control/max_block_size"
	rpc.nfsd -N 3 -V 4.1 -V 4.2 4 || return
	echo 'rdma 20049' >"$knfsd_control/portlist" || return
	# Nobody has anything to reclaim.
	echo Y >"$knfsd_control/v4_end_grace"
}

knfsd_stop() {
	[ -n "$knfsd_started" ] || return 0
	exportfs -au
	rpc.nfsd 0
	kill "$knfsd_mountd" 2>/dev/null
}
