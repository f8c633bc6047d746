/* See requestwrite.h. Runs with the caller's rights; the helper does not link this file. */
#include "requestwrite.h"

#include <string.h>

#include "../base/bytes.h"
#include "../base/cleanup.h"
#include "requesthead.h"

char *
request_encode(const struct request *r, size_t *len)
{
	struct request copy = *r;
	struct head h = { .init_inode = r->spec.init_file.inode, .init_major = r->spec.init_file.major,
		.init_minor = r->spec.init_file.minor,
		.verb = r->verb, .uid = r->spec.uid, .gid = r->spec.gid, .waiter = (uint32_t)r->waiter.pid,
		.waiter_start = r->waiter.start,
		.flags = (r->spec.systemd_cgroup ? FLAG_SYSTEMD_CGROUP : 0U) | (r->spec.dac_override ? FLAG_DAC_OVERRIDE : 0U) |
		    (r->spec.privileged ? FLAG_PRIVILEGED : 0U) | (r->retry.no_ops ? FLAG_NO_OPS : 0U) |
		    (r->spec.is_run ? FLAG_IS_RUN : 0U) | (r->retry.await_keys ? FLAG_AWAIT_KEYS : 0U) |
		    (r->spec.promises ? FLAG_PROMISES : 0U) | (r->retry.scan_first ? FLAG_SCAN_FIRST : 0U),
		.uid_ranges = r->spec.uids.identity ? NONE : (uint32_t)r->spec.uids.n,
		.gid_ranges = r->spec.gids.identity ? NONE : (uint32_t)r->spec.gids.n,
		.gids = (uint32_t)r->spec.gid_count, .revoked = (uint32_t)r->retry.revoked.n };
	autobuf struct buf b = { 0 };
	size_t i;

	for (i = 0; i < TEXTS; i++)
		h.text[i] = *request_text(&copy, i) != NULL ? (uint32_t)strlen(*request_text(&copy, i)) : NONE;
	bytes_put(&b, &h, sizeof(h));
	bytes_put(&b, r->spec.uids.v, r->spec.uids.identity ? 0 : r->spec.uids.n * sizeof(r->spec.uids.v[0]));
	bytes_put(&b, r->spec.gids.v, r->spec.gids.identity ? 0 : r->spec.gids.n * sizeof(r->spec.gids.v[0]));
	bytes_put(&b, r->spec.gid_list, r->spec.gid_count * sizeof(r->spec.gid_list[0]));
	for (i = 0; i < r->retry.revoked.n; i++)
		bytes_put(&b, r->retry.revoked.v[i], strlen(r->retry.revoked.v[i]));
	for (i = 0; i < TEXTS; i++)
		if (h.text[i] != NONE)
			bytes_put(&b, *request_text(&copy, i), h.text[i]);
	*len = b.len;
	return buf_take(&b);
}
