/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include "status.h"

static const struct {
	uint32_t status;
	const char *name, *means;
} statuses[] = {
	{1, "PERM", "operation not permitted"},
	{2, "NOENT", "no such file or directory"},
	{5, "IO", "the server cannot read or write"},
	{6, "NXIO", "no such device"},
	{13, "ACCESS", "permission denied"},
	{17, "EXIST", "the file exists"},
	{18, "XDEV", "another file system"},
	{20, "NOTDIR", "what it is in is not a directory"},
	{21, "ISDIR", "a directory"},
	{22, "INVAL", "invalid argument"},
	{27, "FBIG", "the file is too large"},
	{28, "NOSPC", "no space on the server"},
	{30, "ROFS", "the file system is read-only"},
	{63, "NAMETOOLONG", "the name is too long"},
	{69, "DQUOT", "the quota is used up"},
	{70, "STALE", "the file handle is stale: the file was removed on the server"},
	{10001, "BADHANDLE", "the server does not know the file handle"},
	{10004, "NOTSUPP", "the server does not support it"},
	{10005, "TOOSMALL", "the request or the reply is too small"},
	{10006, "SERVERFAULT", "the server has failed"},
	{10007, "BADTYPE", "the wrong type of file"},
	{10008, "DELAY", "the server asks to try again later"},
	{10010, "DENIED", "a lock denies it"},
	{10011, "EXPIRED", "the lease has expired"},
	{10012, "LOCKED", "a lock prevents it"},
	{10013, "GRACE", "the server has restarted and is in its grace period"},
	{10014, "FHEXPIRED", "the file handle has expired"},
	{10015, "SHARE_DENIED", "another client's open denies it"},
	{10016, "WRONGSEC", "the export wants another security flavor"},
	{10017, "CLID_INUSE", "the client's name is in use"},
	{10018, "RESOURCE", "the server lacks resources"},
	{10019, "MOVED", "the file system was moved to another server"},
	{10020, "NOFILEHANDLE", "no file handle"},
	{10021, "MINOR_VERS_MISMATCH", "the server does not support NFSv4.1"},
	{10022, "STALE_CLIENTID", "the server has restarted"},
	{10023, "STALE_STATEID", "the server has restarted"},
	{10024, "OLD_STATEID", "an older state of the file"},
	{10025, "BAD_STATEID", "the server does not know the open file"},
	{10026, "BAD_SEQID", "a wrong sequence number"},
	{10029, "SYMLINK", "a symbolic link, which is not followed"},
	{10032, "ATTRNOTSUPP", "an attribute is not supported"},
	{10036, "BADXDR", "the server cannot decode the request"},
	{10038, "OPENMODE", "the file is not open for it"},
	{10039, "BADOWNER", "an unknown owner"},
	{10040, "BADCHAR", "a character of the name is not supported"},
	{10041, "BADNAME", "the name is not supported"},
	{10044, "OP_ILLEGAL", "the server does not know the operation"},
	{10052, "BADSESSION", "the server does not know the session"},
	{10053, "BADSLOT", "a slot that the session does not have"},
	{10055, "CONN_NOT_BOUND_TO_SESSION",
	 "the connection is not bound to the session"},
	{10063, "SEQ_MISORDERED", "a wrong sequence number of a slot"},
	{10064, "SEQUENCE_POS", "SEQUENCE is not the first operation"},
	{10065, "REQ_TOO_BIG", "the request is too large"},
	{10066, "REP_TOO_BIG", "the reply would be too large"},
	{10067, "REP_TOO_BIG_TO_CACHE", "the reply would be too large to be kept"},
	{10068, "RETRY_UNCACHED_REP", "the reply was not kept"},
	{10070, "TOO_MANY_OPS", "too many operations in one request"},
	{10071, "OP_NOT_IN_SESSION", "the operation needs a session"},
	{10074, "CLIENTID_BUSY", "the client still has a session"},
	{10076, "SEQ_FALSE_RETRY", "another request with the same sequence number"},
	{10078, "DEADSESSION", "the session has ended"},
	{10081, "WRONG_CRED", "the wrong user"},
	{10087, "DELEG_REVOKED", "the delegation was revoked"},
};

const char *nfc_status_text(uint32_t status, char *text, size_t room)
{
	size_t i;

	for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (statuses[i].status == status) {
			snprintf(text, room, "NFS4ERR_%s (%s)", statuses[i].name,
				 statuses[i].means);
			return text;
		}
	}
	snprintf(text, room, "NFS status %u", status);
	return text;
}
