/*
 * gpuhelperctl explain: checks with the code of the helper and the wrapper whether this host would refuse the container
 * although a policy grants its request.  Changes nothing.  Says what this user has no right to check.
 */
#include "explain.h"

#include "../../base/cleanup.h"
#include "../../gpu/vendorenv.h"
#include "../../host/driver/drivernodes.h"
#include "../../host/file.h"
#include "../../host/folder/folders.h"
#include "../../user/command/runtime.h"
#include "../../user/compose/duplicates.h"
#include "../../user/mount/rootfs.h"
#include "../../user/mount/sources.h"
#include "../../user/privilege/annotations.h"
#include "../worker/taskuser.h"
#include "extrawords.h"

#define WANTS_MAX 64

/*
 * In a container without a user namespace, root is the host's root, and may have folders that are refused to
 * others.
 */
static void
note_without_namespace(struct inquiry *q)
{
	const struct request r = { .spec.dac_override = true };
	static const struct idmap same = { .identity = true };
	struct edits edits = { 0 };
	struct subject subject;
	struct why why;

	subject_of(&r, &same, &same, &subject);
	if (folders_resolve(&q->decision.grant, &subject, &edits, &why) == 0)
		note(q, "a container without a user namespace could have the folders: its root is the host's root");
	edits_free(&edits);
}

/*
 * Uses the bundle's id maps if there is one.  Else assumes a worker on the plain host: the ids of a worker in a user
 * namespace of its own are unknown here.
 */
static int
look_at_folders(struct inquiry *q, struct edits *edits, struct why *why)
{
	const struct grant *g = &q->decision.grant;
	struct task_user task;
	struct subject subject;

	if (q->options->bundle != NULL) {
		subject_of(&q->request, &q->request.spec.uids, &q->request.spec.gids, &subject);
		return folders_resolve(g, &subject, edits, why);
	}
	task_user_of(q->client.uid, q->client.user, &task);
	if (g->folders > 0)
		note(q, "folders are checked for root in a container with a user namespace, uid %u of the host (--bundle for "
		    "others)", task.subject.uid);
	if (folders_resolve(g, &task.subject, edits, why) == 0)
		return 0;
	if (q->client.uid == 0)
		note_without_namespace(q);
	return -1;
}

static void
note_word(void *inquiry, const char *line)
{
	note(inquiry, "%s", line);
}

/* Checks the driver files of the first candidates: which GPUs are free is unknown here. */
static int
look_at_driver(struct inquiry *q, struct edits *edits, struct why *why)
{
	const struct grant *g = &q->decision.grant;
	const struct inventory *inv = &q->decision.inventory;
	struct granted_gpu chosen[WANTS_MAX];
	struct vendor_grant granted[WANTS_MAX];
	struct driver_question question = { &q->specs, inv, &q->config->settings, chosen, 0, false };
	autostrlist struct strlist used = { 0 };
	struct extra_nodes nodes = { 0 };
	const size_t before = edits->mounts;
	unsigned words = 0;
	size_t i, k;

	for (i = 0; i < g->gpus; i++)
		for (k = 0; k < g->gpu[i].count && k < g->gpu[i].n && question.grants < WANTS_MAX; k++) {
			granted[question.grants] = (struct vendor_grant){ g->gpu[i].candidate[k], g->gpu[i].rule->capabilities };
			chosen[question.grants++] = (struct granted_gpu){ g->gpu[i].candidate[k], g->gpu[i].rule };
		}
	if (driver_files(&question, edits, &used, why) == -1 || driver_nodes(&question, &nodes, why) == -1 ||
	    (q->config->settings.driver_files == DRIVER_FILES_VENDOR_RUNTIME &&
	    vendor_env(inv, granted, question.grants, &edits->env, why) == -1))
		return -1;
	for (i = 0; i < used.n; i++)
		note(q, "the driver files come from CDI spec %s (%zu mounts)", used.v[i], edits->mounts - before);
	for (i = 0; i < edits->notes.n; i++)
		note(q, "warning: %s", edits->notes.v[i]);
	if (!explain_find_libraries(q, edits))
		return refuse_nomem(why);
	for (i = 0; i < nodes.n; i++)
		note(q, "a node besides the GPU's own: %s", nodes.v[i].path);
	for (i = 0; i < g->gpus; i++)
		words |= g->gpu[i].rule->nodes;
	extra_words_tell(&q->specs, words & ~nodes.words, note_word, q);
	return 0;
}

/* The wrapper's first check.  Without the setting, it looks in the worker's PATH, which is unknown here. */
static int
look_at_runtime(const struct inquiry *q, struct why *why)
{
	autofree char *path = NULL;

	return q->config->settings.runtime != NULL && (path = runtime_find(q->config->settings.runtime, why)) == NULL ? -1 : 0;
}

/* The wrapper's checks before it asks the helper. */
static int
look_at_bundle(const struct inquiry *q, int *rootfd, char **rootpath, struct why *why)
{
	return annotations_check(&q->spec, q->client.uid == 0, why) == -1 ||
	    rootfs_open(&q->spec, q->bundle.path, &q->config->settings, q->client.uid, rootfd, rootpath, why) == -1 ||
	    sources_check(&q->spec, why) == -1 ? -1 : 0;
}

/* Checks whether the grant can be carried out here. */
static int
look_at_grant(struct inquiry *q, int rootfd, const char *rootpath, struct why *why)
{
	struct edits edits = { 0 };
	int ret = look_at_folders(q, &edits, why) == -1 || look_at_driver(q, &edits, why) == -1 ? -1 : 0;

	if (ret == 0 && rootfd != -1)
		ret = duplicates_mark(&q->spec, &edits, why) == -1 ||
		    rootfs_check_conflicts(&q->spec, rootfd, rootpath, &edits, why) == -1 ? -1 : 0;
	edits_free(&edits);
	return ret;
}

void
look_at_host(struct inquiry *q)
{
	const bool root = geteuid() == 0;
	autofree char *rootpath = NULL;
	autoclose int rootfd = -1;
	struct why why;

	if (look_at_runtime(q, &why) == 0 &&
	    (q->options->bundle == NULL || look_at_bundle(q, &rootfd, &rootpath, &why) == 0) &&
	    (q->outcome != OUTCOME_GRANTED || look_at_grant(q, rootfd, rootpath, &why) == 0))
		return;
	if (q->outcome == OUTCOME_REFUSED) {
		note(q, "gpuhelper-runc would refuse the container: %s", why.text);
	} else if (why.code == WHY_IO && !root) {
		note(q, "this user has no right to check everything, so the host may still refuse the container: %s", why.text);
	} else {
		q->outcome = OUTCOME_REFUSED;
		q->why = why;
	}
}
