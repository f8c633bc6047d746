/*
 * See warn_parts.h: a request for a policy's folders is made up, and judged by the
 * code that the helper judges by.  What this user may not look at gives no warning.
 */
#include "warn_parts.h"

#include <unistd.h>

#include "../host/folders.h"
#include "taskuser.h"
#include "warn.h"

/* What the policy gives who asks for all of its folders; false for none. */
static bool
want_all(const struct policy *p, const struct asker *who, const struct settings *settings, struct grant *out)
{
	static const struct inventory none;
	autoask struct ask ask = { 0 };
	struct why why;

	return p->folders > 0 && ask_parse("none", "all", &ask, &why) == 0 &&
	    policy_allows(p, who, &ask, &none, settings, out, &why) == VERDICT_GRANT && out->folders == p->folders;
}

/* Adds the rule's folders to *edits; a refusal is warned of.  The wants of a grant of all are in the rules' order. */
static bool
try(struct checked *c, const struct grant *all, size_t at, const struct subject *s, struct edits *edits)
{
	const struct grant one = { .folder = &all->folder[at], .folders = 1 };
	struct why why;

	if (folders_resolve(&one, s, edits, &why) == 0)
		return true;
	if (why.code != WHY_IO || geteuid() == 0)
		warn_once(c, c->policy.folder[at].line, "it would be refused: %s", why.text);
	return false;
}

/* Each by itself, then all that can be had in one container: the first that can't be there beside the others. */
static void
try_all(struct checked *c, const struct grant *all, const struct subject *s)
{
	struct edits edits = { 0 };
	bool good = true;
	size_t i;

	for (i = 0; i < all->folders; i++) {
		good = try(c, all, i, s, &edits) && good;
		edits_free(&edits);
	}
	for (i = 0; good && i < all->folders; i++)
		good = try(c, all, i, s, &edits);
	edits_free(&edits);
}

void
warn_folders(struct checked *c, const struct settings *settings)
{
	struct asker who[ASKERS_MAX];
	size_t i, n = policy_askers(&c->policy, who);
	struct task_user task;

	for (i = 0; i < n; i++) {
		autogrant struct grant all = { 0 };

		if (!want_all(&c->policy, &who[i], settings, &all))
			continue;
		task_user_of(who[i].uid, who[i].user, &task);
		try_all(c, &all, &task.subject);
	}
}
