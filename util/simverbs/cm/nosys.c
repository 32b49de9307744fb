/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsockets are not offered: every function fails, because librdmacm's own would run on
 * ids of simverbs.
 */
#include <errno.h>
#include <rdma/rsocket.h>
#include "verbs/verbs.h"

#define SVB_NOSYS(type, name, ...)     \
	SVB_API type name(__VA_ARGS__) \
	{                              \
		errno = EOPNOTSUPP;    \
		return (type)-1;       \
	}

SVB_NOSYS(int, rsocket, int domain, int type, int protocol)
SVB_NOSYS(int, rbind, int socket, const struct sockaddr *addr, socklen_t addrlen)
SVB_NOSYS(int, rlisten, int socket, int backlog)
SVB_NOSYS(int, raccept, int socket, struct sockaddr *addr, socklen_t *addrlen)
SVB_NOSYS(int, rconnect, int socket, const struct sockaddr *addr, socklen_t addrlen)
SVB_NOSYS(int, rshutdown, int socket, int how)
SVB_NOSYS(int, rclose, int socket)
SVB_NOSYS(ssize_t, rrecv, int socket, void *buf, size_t len, int flags)
SVB_NOSYS(ssize_t, rrecvfrom, int socket, void *buf, size_t len, int flags,
	  struct sockaddr *src_addr, socklen_t *addrlen)
SVB_NOSYS(ssize_t, rrecvmsg, int socket, struct msghdr *msg, int flags)
SVB_NOSYS(ssize_t, rsend, int socket, const void *buf, size_t len, int flags)
SVB_NOSYS(ssize_t, rsendto, int socket, const void *buf, size_t len, int flags,
	  const struct sockaddr *dest_addr, socklen_t addrlen)
SVB_NOSYS(ssize_t, rsendmsg, int socket, const struct msghdr *msg, int flags)
SVB_NOSYS(ssize_t, rread, int socket, void *buf, size_t count)
SVB_NOSYS(ssize_t, rreadv, int socket, const struct iovec *iov, int iovcnt)
SVB_NOSYS(ssize_t, rwrite, int socket, const void *buf, size_t count)
SVB_NOSYS(ssize_t, rwritev, int socket, const struct iovec *iov, int iovcnt)
SVB_NOSYS(int, rpoll, struct pollfd *fds, nfds_t nfds, int timeout)
SVB_NOSYS(int, rselect, int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
	  struct timeval *timeout)
SVB_NOSYS(int, rgetpeername, int socket, struct sockaddr *addr, socklen_t *addrlen)
SVB_NOSYS(int, rgetsockname, int socket, struct sockaddr *addr, socklen_t *addrlen)
SVB_NOSYS(int, rsetsockopt, int socket, int level, int optname, const void *optval,
	  socklen_t optlen)
SVB_NOSYS(int, rgetsockopt, int socket, int level, int optname, void *optval,
	  socklen_t *optlen)
SVB_NOSYS(int, rfcntl, int socket, int cmd, ...)
SVB_NOSYS(off_t, riomap, int socket, void *buf, size_t len, int prot, int flags,
	  off_t offset)
SVB_NOSYS(int, riounmap, int socket, void *buf, size_t len)
SVB_NOSYS(int, repoll_create, int flags)
SVB_NOSYS(int, repoll_ctl, int epfd, int op, int fd, struct epoll_event *event)
SVB_NOSYS(int, repoll_wait, int epfd, struct epoll_event *events, int maxevents,
	  int timeout)
SVB_NOSYS(size_t, riowrite, int socket, const void *buf, size_t count, off_t offset,
	  int flags)
