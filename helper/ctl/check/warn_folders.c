/*
 * See warn_parts.h: makes a request for a policy's folders, and checks it with the helper's code.  A folder that this
 * user may not look at gives no warning.
 */
#include "warn_parts.h"

#include <unistd.h>

#include "../../host/folder/folders.h"
#include "../worker/taskuser.h"
#include "warn.h"
#include "../../policy/policydecide.h"

/* The grant for a request of all the policy's folders; false if there is none. */
static bool
want_all(const struct policy *p, const struct client *who, const struct settings *settings, struct grant *out)
{
	static const struct inventory none;
	autorequested struct requested requested = { 0 };
	struct why why;

	return p->folders > 0 && requested_parse("none", "all", &requested, &why) == 0 &&
	    policy_decide(p, who, &requested, &none, settings, out, &why) == VERDICT_GRANT && out->folders == p->folders;
}

/*
 * Adds the folders of rule «at» to *edits.  False, with a warning, if the host refuses them.  «all» is in rule order.
 */
static bool
try_folder(struct checked *c, const struct grant *all, size_t at, const struct subject *s, struct edits *edits)
{
	const struct grant one = { .folder = &all->folder[at], .folders = 1 };
	struct why why;

	if (folders_resolve(&one, s, edits, &why) == 0)
		return true;
	if (why.code != WHY_IO || geteuid() == 0)
		warn_once(c, c->policy.folder[at].line, "a request would be refused: %s", why.text);
	return false;
}

/* Tries each folder alone, then all in one container, to find the first that conflicts with others. */
static void
try_folders(struct checked *c, const struct grant *all, const struct subject *s)
{
	struct edits edits = { 0 };
	bool good = true;
	size_t i;

	for (i = 0; i < all->folders; i++) {
		good = try_folder(c, all, i, s, &edits) && good;
		edits_free(&edits);
	}
	for (i = 0; good && i < all->folders; i++)
		good = try_folder(c, all, i, s, &edits);
	edits_free(&edits);
}

void
warn_folders(struct checked *c, const struct settings *settings)
{
	struct client who[CLIENTS_MAX];
	size_t i, n = policy_clients(&c->policy, who);
	struct task_user task;

	for (i = 0; i < n; i++) {
		autogrant struct grant all = { 0 };

		if (!want_all(&c->policy, &who[i], settings, &all))
			continue;
		task_user_of(who[i].uid, who[i].user, &task);
		try_folders(c, &all, &task.subject);
	}
}
