/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include <cairn/nosys.h>

int crn_nosys_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return -FI_ENOSYS;
}

int crn_nosys_control(struct fid *fid, int command, void *arg)
{
	return -FI_ENOSYS;
}

int crn_nosys_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops,
		       void *context)
{
	return -FI_ENOSYS;
}

int crn_nosys_ops_set(struct fid *fid, const char *name, uint64_t flags, void *ops,
		      void *context)
{
	return -FI_ENOSYS;
}

int crn_nosys_tostr(const struct fid *fid, char *buf, size_t len)
{
	return -FI_ENOSYS;
}

int crn_nosys_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
			struct fid_wait **waitset)
{
	return -FI_ENOSYS;
}

int crn_nosys_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		      struct fid_av **av, void *context)
{
	return -FI_ENOSYS;
}

int crn_nosys_scalable_ep(struct fid_domain *domain, struct fi_info *info,
			  struct fid_ep **sep, void *context)
{
	return -FI_ENOSYS;
}

int crn_nosys_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
			struct fid_cntr **cntr, void *context)
{
	return -FI_ENOSYS;
}

int crn_nosys_poll_open(struct fid_domain *domain, struct fi_poll_attr *attr,
			struct fid_poll **pollset)
{
	return -FI_ENOSYS;
}

int crn_nosys_stx_ctx(struct fid_domain *domain, struct fi_tx_attr *attr,
		      struct fid_stx **stx, void *context)
{
	return -FI_ENOSYS;
}

int crn_nosys_srx_ctx(struct fid_domain *domain, struct fi_rx_attr *attr,
		      struct fid_ep **rx_ep, void *context)
{
	return -FI_ENOSYS;
}

int crn_nosys_query_atomic(struct fid_domain *domain, enum fi_datatype datatype,
			   enum fi_op op, struct fi_atomic_attr *attr, uint64_t flags)
{
	return -FI_ENOSYS;
}

int crn_nosys_query_collective(struct fid_domain *domain, enum fi_collective_op coll,
			       struct fi_collective_attr *attr, uint64_t flags)
{
	return -FI_ENOSYS;
}

ssize_t crn_nosys_cancel(fid_t fid, void *context)
{
	return -FI_ENOSYS;
}

int crn_nosys_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		     struct fid_ep **tx_ep, void *context)
{
	return -FI_ENOSYS;
}

int crn_nosys_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		     struct fid_ep **rx_ep, void *context)
{
	return -FI_ENOSYS;
}

ssize_t crn_nosys_rx_size_left(struct fid_ep *ep)
{
	return -FI_ENOSYS;
}

ssize_t crn_nosys_tx_size_left(struct fid_ep *ep)
{
	return -FI_ENOSYS;
}

int crn_nosys_setname(fid_t fid, void *addr, size_t addrlen)
{
	return -FI_ENOSYS;
}

int crn_nosys_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return -FI_ENOSYS;
}

int crn_nosys_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	return -FI_ENOSYS;
}

int crn_nosys_connect(struct fid_ep *ep, const void *addr, const void *param,
		      size_t paramlen)
{
	return -FI_ENOSYS;
}

int crn_nosys_listen(struct fid_pep *pep)
{
	return -FI_ENOSYS;
}

int crn_nosys_accept(struct fid_ep *ep, const void *param, size_t paramlen)
{
	return -FI_ENOSYS;
}

int crn_nosys_reject(struct fid_pep *pep, fid_t handle, const void *param,
		     size_t paramlen)
{
	return -FI_ENOSYS;
}

int crn_nosys_shutdown(struct fid_ep *ep, uint64_t flags)
{
	return -FI_ENOSYS;
}

int crn_nosys_join(struct fid_ep *ep, const void *addr, uint64_t flags,
		   struct fid_mc **mc, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t msg_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t src_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t msg_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t msg_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			fi_addr_t dest_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t msg_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t dest_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest_addr)
{
	return -FI_ENOSYS;
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t msg_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest_addr)
{
	return -FI_ENOSYS;
}

struct fi_ops_msg crn_nosys_msg = {
	.size = sizeof(struct fi_ops_msg),
	.recv = msg_recv,
	.recvv = msg_recvv,
	.recvmsg = msg_recvmsg,
	.send = msg_send,
	.sendv = msg_sendv,
	.sendmsg = msg_sendmsg,
	.inject = msg_inject,
	.senddata = msg_senddata,
	.injectdata = msg_injectdata,
};

static ssize_t rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rma_readv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t src_addr, uint64_t addr, uint64_t key,
			 void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rma_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			   uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t rma_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			 fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rma_writev(struct fid_ep *ep, const struct iovec *iov, void **desc,
			  size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			  void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rma_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			    uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t rma_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	return -FI_ENOSYS;
}

static ssize_t rma_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			     uint64_t key, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rma_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			      uint64_t key)
{
	return -FI_ENOSYS;
}

struct fi_ops_rma crn_nosys_rma = {
	.size = sizeof(struct fi_ops_rma),
	.read = rma_read,
	.readv = rma_readv,
	.readmsg = rma_readmsg,
	.write = rma_write,
	.writev = rma_writev,
	.writemsg = rma_writemsg,
	.inject = rma_inject,
	.writedata = rma_writedata,
	.injectdata = rma_injectdata,
};

static ssize_t tagged_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			   fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
			   void *context)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			    size_t count, fi_addr_t src_addr, uint64_t tag,
			    uint64_t ignore, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			      uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			   fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			    size_t count, fi_addr_t dest_addr, uint64_t tag,
			    void *context)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			      uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_inject(struct fid_ep *ep, const void *buf, size_t len,
			     fi_addr_t dest_addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			       uint64_t data, fi_addr_t dest_addr, uint64_t tag,
			       void *context)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_injectdata(struct fid_ep *ep, const void *buf, size_t len,
				 uint64_t data, fi_addr_t dest_addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

struct fi_ops_tagged crn_nosys_tagged = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = tagged_recv,
	.recvv = tagged_recvv,
	.recvmsg = tagged_recvmsg,
	.send = tagged_send,
	.sendv = tagged_sendv,
	.sendmsg = tagged_sendmsg,
	.inject = tagged_inject,
	.senddata = tagged_senddata,
	.injectdata = tagged_injectdata,
};

static ssize_t atomic_write(struct fid_ep *ep, const void *buf, size_t count, void *desc,
			    fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			    enum fi_datatype datatype, enum fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_writev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
			     size_t count, fi_addr_t dest_addr, uint64_t addr,
			     uint64_t key, enum fi_datatype datatype, enum fi_op op,
			     void *context)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_writemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
			       uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_inject(struct fid_ep *ep, const void *buf, size_t count,
			     fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			     enum fi_datatype datatype, enum fi_op op)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_readwrite(struct fid_ep *ep, const void *buf, size_t count,
				void *desc, void *result, void *result_desc,
				fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				enum fi_datatype datatype, enum fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_readwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				 size_t count, struct fi_ioc *resultv, void **result_desc,
				 size_t result_count, fi_addr_t dest_addr, uint64_t addr,
				 uint64_t key, enum fi_datatype datatype, enum fi_op op,
				 void *context)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_readwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				   struct fi_ioc *resultv, void **result_desc,
				   size_t result_count, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_compwrite(struct fid_ep *ep, const void *buf, size_t count,
				void *desc, const void *compare, void *compare_desc,
				void *result, void *result_desc, fi_addr_t dest_addr,
				uint64_t addr, uint64_t key, enum fi_datatype datatype,
				enum fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_compwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				 size_t count, const struct fi_ioc *comparev,
				 void **compare_desc, size_t compare_count,
				 struct fi_ioc *resultv, void **result_desc,
				 size_t result_count, fi_addr_t dest_addr, uint64_t addr,
				 uint64_t key, enum fi_datatype datatype, enum fi_op op,
				 void *context)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				   const struct fi_ioc *comparev, void **compare_desc,
				   size_t compare_count, struct fi_ioc *resultv,
				   void **result_desc, size_t result_count,
				   uint64_t flags)
{
	return -FI_ENOSYS;
}

static int atomic_writevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
			     size_t *count)
{
	return -FI_ENOSYS;
}

static int atomic_readwritevalid(struct fid_ep *ep, enum fi_datatype datatype,
				 enum fi_op op, size_t *count)
{
	return -FI_ENOSYS;
}

static int atomic_compwritevalid(struct fid_ep *ep, enum fi_datatype datatype,
				 enum fi_op op, size_t *count)
{
	return -FI_ENOSYS;
}

struct fi_ops_atomic crn_nosys_atomic = {
	.size = sizeof(struct fi_ops_atomic),
	.write = atomic_write,
	.writev = atomic_writev,
	.writemsg = atomic_writemsg,
	.inject = atomic_inject,
	.readwrite = atomic_readwrite,
	.readwritev = atomic_readwritev,
	.readwritemsg = atomic_readwritemsg,
	.compwrite = atomic_compwrite,
	.compwritev = atomic_compwritev,
	.compwritemsg = atomic_compwritemsg,
	.writevalid = atomic_writevalid,
	.readwritevalid = atomic_readwritevalid,
	.compwritevalid = atomic_compwritevalid,
};

static ssize_t collective_barrier(struct fid_ep *ep, fi_addr_t coll_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_broadcast(struct fid_ep *ep, void *buf, size_t count,
				    void *desc, fi_addr_t coll_addr, fi_addr_t root_addr,
				    enum fi_datatype datatype, uint64_t flags,
				    void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_alltoall(struct fid_ep *ep, const void *buf, size_t count,
				   void *desc, void *result, void *result_desc,
				   fi_addr_t coll_addr, enum fi_datatype datatype,
				   uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_allreduce(struct fid_ep *ep, const void *buf, size_t count,
				    void *desc, void *result, void *result_desc,
				    fi_addr_t coll_addr, enum fi_datatype datatype,
				    enum fi_op op, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_allgather(struct fid_ep *ep, const void *buf, size_t count,
				    void *desc, void *result, void *result_desc,
				    fi_addr_t coll_addr, enum fi_datatype datatype,
				    uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_reduce_scatter(struct fid_ep *ep, const void *buf, size_t count,
					 void *desc, void *result, void *result_desc,
					 fi_addr_t coll_addr, enum fi_datatype datatype,
					 enum fi_op op, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_reduce(struct fid_ep *ep, const void *buf, size_t count,
				 void *desc, void *result, void *result_desc,
				 fi_addr_t coll_addr, fi_addr_t root_addr,
				 enum fi_datatype datatype, enum fi_op op, uint64_t flags,
				 void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_scatter(struct fid_ep *ep, const void *buf, size_t count,
				  void *desc, void *result, void *result_desc,
				  fi_addr_t coll_addr, fi_addr_t root_addr,
				  enum fi_datatype datatype, uint64_t flags,
				  void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_gather(struct fid_ep *ep, const void *buf, size_t count,
				 void *desc, void *result, void *result_desc,
				 fi_addr_t coll_addr, fi_addr_t root_addr,
				 enum fi_datatype datatype, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_msg(struct fid_ep *ep, const struct fi_msg_collective *msg,
			      struct fi_ioc *resultv, void **result_desc,
			      size_t result_count, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t collective_barrier2(struct fid_ep *ep, fi_addr_t coll_addr, uint64_t flags,
				   void *context)
{
	return -FI_ENOSYS;
}

struct fi_ops_collective crn_nosys_collective = {
	.size = sizeof(struct fi_ops_collective),
	.barrier = collective_barrier,
	.broadcast = collective_broadcast,
	.alltoall = collective_alltoall,
	.allreduce = collective_allreduce,
	.allgather = collective_allgather,
	.reduce_scatter = collective_reduce_scatter,
	.reduce = collective_reduce,
	.scatter = collective_scatter,
	.gather = collective_gather,
	.msg = collective_msg,
	.barrier2 = collective_barrier2,
};

struct fi_ops_cm crn_nosys_cm = {
	.size = sizeof(struct fi_ops_cm),
	.setname = crn_nosys_setname,
	.getname = crn_nosys_getname,
	.getpeer = crn_nosys_getpeer,
	.connect = crn_nosys_connect,
	.listen = crn_nosys_listen,
	.accept = crn_nosys_accept,
	.reject = crn_nosys_reject,
	.shutdown = crn_nosys_shutdown,
	.join = crn_nosys_join,
};
