/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/nosys.h>
#include "cairn_test.h"

/* libfabric calls many operations without a check: no slot may be empty. */
CT_TEST(nosys, every_slot_of_every_table_is_filled)
{
	static const struct {
		const char *name;
		const void *table;
		size_t size;
	} rows[] = {
		{"msg", &crn_nosys_msg, sizeof(crn_nosys_msg)},
		{"rma", &crn_nosys_rma, sizeof(crn_nosys_rma)},
		{"tagged", &crn_nosys_tagged, sizeof(crn_nosys_tagged)},
		{"atomic", &crn_nosys_atomic, sizeof(crn_nosys_atomic)},
		{"collective", &crn_nosys_collective, sizeof(crn_nosys_collective)},
		{"cm", &crn_nosys_cm, sizeof(crn_nosys_cm)},
	};
	size_t declared;
	void (*op)(void);

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].name);
		memcpy(&declared, rows[i].table, sizeof(declared));
		CT_EXPECT_EQ(declared, rows[i].size);
		for (size_t slot = sizeof(declared); slot < rows[i].size;
		     slot += sizeof(op)) {
			memcpy(&op, (const char *)rows[i].table + slot, sizeof(op));
			CT_EXPECT_TRUE(op);
		}
	}
}

CT_TEST(nosys, no_operation_of_msg_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_msg.recv(NULL, NULL, 0, NULL, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_msg.recvv(NULL, NULL, NULL, 0, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_msg.recvmsg(NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_msg.send(NULL, NULL, 0, NULL, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_msg.sendv(NULL, NULL, NULL, 0, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_msg.sendmsg(NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_msg.inject(NULL, NULL, 0, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_msg.senddata(NULL, NULL, 0, NULL, 0, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_msg.injectdata(NULL, NULL, 0, 0, 0), -FI_ENOSYS);
}

CT_TEST(nosys, no_operation_of_rma_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_rma.read(NULL, NULL, 0, NULL, 0, 0, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_rma.readv(NULL, NULL, NULL, 0, 0, 0, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_rma.readmsg(NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_rma.write(NULL, NULL, 0, NULL, 0, 0, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_rma.writev(NULL, NULL, NULL, 0, 0, 0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_rma.writemsg(NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_rma.inject(NULL, NULL, 0, 0, 0, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_rma.writedata(NULL, NULL, 0, NULL, 0, 0, 0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_rma.injectdata(NULL, NULL, 0, 0, 0, 0, 0), -FI_ENOSYS);
}

CT_TEST(nosys, no_operation_of_tagged_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_tagged.recv(NULL, NULL, 0, NULL, 0, 0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tagged.recvv(NULL, NULL, NULL, 0, 0, 0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tagged.recvmsg(NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tagged.send(NULL, NULL, 0, NULL, 0, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tagged.sendv(NULL, NULL, NULL, 0, 0, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tagged.sendmsg(NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tagged.inject(NULL, NULL, 0, 0, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tagged.senddata(NULL, NULL, 0, NULL, 0, 0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tagged.injectdata(NULL, NULL, 0, 0, 0, 0), -FI_ENOSYS);
}

CT_TEST(nosys, no_operation_of_atomic_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_atomic.write(NULL, NULL, 0, NULL, 0, 0, 0, 0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_atomic.writev(NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_atomic.writemsg(NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_atomic.inject(NULL, NULL, 0, 0, 0, 0, 0, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_atomic.readwrite(NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0,
						0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_atomic.readwritev(NULL, NULL, NULL, 0, NULL, NULL, 0, 0, 0,
						 0, 0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_atomic.readwritemsg(NULL, NULL, NULL, NULL, 0, 0),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_atomic.compwrite(NULL, NULL, 0, NULL, NULL, NULL, NULL,
						NULL, 0, 0, 0, 0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_atomic.compwritev(NULL, NULL, NULL, 0, NULL, NULL, 0, NULL,
						 NULL, 0, 0, 0, 0, 0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_atomic.compwritemsg(NULL, NULL, NULL, NULL, 0, NULL, NULL,
						   0, 0),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_atomic.writevalid(NULL, 0, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_atomic.readwritevalid(NULL, 0, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_atomic.compwritevalid(NULL, 0, 0, NULL), -FI_ENOSYS);
}

CT_TEST(nosys, no_operation_of_collective_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_collective.barrier(NULL, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_collective.broadcast(NULL, NULL, 0, NULL, 0, 0, 0, 0,
						    NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_collective.alltoall(NULL, NULL, 0, NULL, NULL, NULL, 0, 0,
						   0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_collective.allreduce(NULL, NULL, 0, NULL, NULL, NULL, 0, 0,
						    0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_collective.allgather(NULL, NULL, 0, NULL, NULL, NULL, 0, 0,
						    0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_collective.reduce_scatter(NULL, NULL, 0, NULL, NULL, NULL,
							 0, 0, 0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_collective.reduce(NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0,
						 0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_collective.scatter(NULL, NULL, 0, NULL, NULL, NULL, 0, 0,
						  0, 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_collective.gather(NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0,
						 0, NULL),
		     -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_collective.msg(NULL, NULL, NULL, NULL, 0, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_collective.barrier2(NULL, 0, 0, NULL), -FI_ENOSYS);
}

CT_TEST(nosys, no_operation_of_cm_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_cm.setname(NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_cm.getname(NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_cm.getpeer(NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_cm.connect(NULL, NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_cm.listen(NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_cm.accept(NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_cm.reject(NULL, NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_cm.shutdown(NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_cm.join(NULL, NULL, 0, NULL, NULL), -FI_ENOSYS);
}

CT_TEST(nosys, no_single_operation_of_fi_ops_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_bind(NULL, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_control(NULL, 0, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_ops_open(NULL, NULL, 0, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_ops_set(NULL, NULL, 0, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tostr(NULL, NULL, 0), -FI_ENOSYS);
}

CT_TEST(nosys, no_single_operation_of_fi_ops_fabric_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_wait_open(NULL, NULL, NULL), -FI_ENOSYS);
}

CT_TEST(nosys, no_single_operation_of_fi_ops_domain_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_av_open(NULL, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_scalable_ep(NULL, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_cntr_open(NULL, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_poll_open(NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_stx_ctx(NULL, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_srx_ctx(NULL, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_query_atomic(NULL, 0, 0, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_query_collective(NULL, 0, NULL, 0), -FI_ENOSYS);
}

CT_TEST(nosys, no_single_operation_of_fi_ops_ep_is_offered)
{
	CT_EXPECT_EQ(crn_nosys_cancel(NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tx_ctx(NULL, 0, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_rx_ctx(NULL, 0, NULL, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_rx_size_left(NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_nosys_tx_size_left(NULL), -FI_ENOSYS);
}
