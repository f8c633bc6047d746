/*
 * See prepare.h. Runs with the caller's rights. The helper undoes a grant that is not made final, so nothing may fail
 * between ask_final() and the rename of config.json that could be checked before.
 */
#include "prepare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../kernel/secontext.h"
#include "../lease/editsdriver.h"
#include "ask/lease.h"
#include "command/message.h"
#include "command/namespace.h"
#include "compose/adaptgrant.h"
#include "compose/compose.h"
#include "compose/duplicates.h"
#include "compose/grantmark.h"
#include "compose/removed.h"
#include "mount/createdpaths.h"
#include "mount/rootfs.h"
#include "newcontainer.h"
#include "record/grantrecord.h"
#include "record/recorddir.h"
#include "spec/cudavisible.h"
#include "spec/misspelt.h"
#include "spec/speccapability.h"
#include "vet/takedriver.h"
#include "vet/vetting.h"

/*
 * Refuses a container that can't open its nodes, whatever its cgroup will be, while the grant can still be undone. If
 * that is not certain, create.c checks the container. After «run» without --detach nothing can be checked, so its user
 * is told now.
 */
static int
check_node_access(struct new_container *n)
{
	struct why why;

	if (node_access_of(&n->reply.edits, n->access, &n->why) == -1)
		return -1;
	if (node_access_is_lost(n->access, n->request.spec.cgroups_path, n->request.id))
		return node_access_refuse(n->access, &n->why);
	if (n->access->denials > 0 && !command_detaches(n->command)) {
		node_access_refuse(n->access, &why);
		report_notice(n->command, why.text);
	}
	return 0;
}

static int
warn_of_variables(struct new_container *n)
{
	struct edits *e = &n->reply.edits;
	char note[NOTE_MAX];

	return !cuda_visible_warns(&n->spec.env_text, &e->env, &e->gpus, note) || edits_add_note(e, "%s", note) ? 0 :
	    refuse_nomem(&n->why);
}

static int
ask_for_grant(struct new_container *n)
{
	if (lease_ask(n->command, &n->request, n->settings->door, n->conn, &n->reply, &n->why) == -1)
		return -1;
	switch (n->reply.kind) {
	case REPLY_GRANT:
		break;
	case REPLY_PLAIN:
		ask_end(n->conn);
		return 0;
	default:
		n->why = n->reply.why;
		privilege_explain(&n->spec, n->settings, n->privilege, &n->why);
		return -1;
	}
	n->granted = true;
	if (take_driver_edits(&n->reply.edits, n->settings, &n->why) == -1)
		return -1;
	if (namespace_is_hosts_root() && vetting_check(&n->reply, &n->request, n->settings, &n->majors, &n->why) == -1)
		return -1;
	if (duplicates_mark(&n->spec, &n->reply.edits, &n->why) == -1 ||
	    rootfs_check_conflicts(&n->spec, n->rootfd, n->rootpath, &n->reply.edits, &n->why) == -1 ||
	    created_paths_check(&n->spec, n->rootfd, &n->reply.edits, &n->why) == -1 || check_node_access(n) == -1)
		return -1;
	return adapt_grant(n->runtime, &n->spec, &n->reply.edits, &n->why) == -1 ? -1 : warn_of_variables(n);
}

/* A container with strong capabilities needs more rights than container_t has. */
static bool
keeps_its_domain(const struct spec *s)
{
	return !s->user_namespace && capabilities_are_strong(&s->doc, s->process);
}

/*
 * selinux.plain = "container_t": labels a container that its engine gave no label, which would otherwise run in
 * the runtime's domain. Draws categories as engines do, from half a million pairs, without comparing them
 * with others'.
 */
static int
label_plain(struct new_container *n)
{
	char level[32], label[96], mount[96];
	uint32_t random;

	if (n->granted || !n->settings->plain_container || n->spec.label != NULL || keeps_its_domain(&n->spec) ||
	    access("/sys/fs/selinux/enforce", F_OK) == -1)
		return 0;
	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return refuse(&n->why, WHY_BUG, "getrandom: %s", strerror(errno));
	level_pair(random, level);
	snprintf(label, sizeof(label), "system_u:system_r:container_t:%s", level);
	snprintf(mount, sizeof(mount), "system_u:object_r:" SECONTEXT_FILE_TYPE ":%s", level);
	n->plain.label = strdup(label);
	n->plain.mount_label = strdup(mount);
	return n->plain.label != NULL && n->plain.mount_label != NULL ? 0 : refuse_nomem(&n->why);
}

/*
 * Runtimes run these hooks as root of the container's user namespace, and others as the caller. An engine that injects
 * a CDI device puts them into config.json.
 */
static bool
has_container_hook(const struct spec *s, const struct edits *e)
{
	size_t i;

	for (i = 0; i < e->hooks && strcmp(e->hook[i].when, "createContainer") != 0; i++)
		;
	return i < e->hooks || doc_first(&s->doc, doc_get(&s->doc, s->hooks, "createContainer")) != DOC_NONE;
}

static struct bundle_readers
readers_of_config(const struct new_container *n)
{
	struct bundle_readers r = { .secret = n->granted && n->reply.edits.env_secret,
		.hook = n->granted && n->spec.user_namespace && has_container_hook(&n->spec, &n->reply.edits) };

	r.mapped = idmap_out(&n->request.spec.uids, 0, &r.uid) && idmap_out(&n->request.spec.gids, 0, &r.gid);
	return r;
}

/* What execs into the container will get (exec.c), once create.c has checked it. */
static int
write_grant_record(struct new_container *n)
{
	const struct edits *e = &n->reply.edits;
	const struct vetted_grant v = { &e->env, e->gid, e->gids, e->label, n->request.spec.privileged, e->promise };

	return grant_record_write(n->command, &v, command_detaches(n->command), &n->why);
}

/*
 * The helper stays to see the container only if the runtime ends before the container does. Otherwise this process
 * becomes the runtime and can't ask again.
 */
static int
make_final(struct new_container *n)
{
	if (n->granted && record_dir_is_hosts_root() && write_grant_record(n) == -1)
		return -1;
	return n->granted ? ask_final(n->conn, command_detaches(n->command), &n->why) : 0;
}

static int
mark_grant(struct new_container *n)
{
	char *marked = grantmark_add(&n->spec, &n->reply.edits, n->bundle.path, n->text, &n->len, &n->why);

	if (marked == NULL)
		return -1;
	free(n->text);
	n->text = marked;
	return 0;
}

static int
compose_config(struct new_container *n)
{
	const bool hide = new_container_hides_gpus(n);

	/* one of the same name may have been granted something */
	if (!n->granted && record_dir_is_hosts_root() && n->command->id != NULL)
		grant_record_forget(n->command);
	if (label_plain(n) == -1)
		return -1;
	n->text = compose(&n->spec, &n->majors, n->granted ? &n->reply.edits : &n->plain, hide, &n->len, &n->why);
	if (n->text == NULL || (n->granted && mark_grant(n) == -1))
		return -1;
	removed_tell(&n->spec, hide, n->granted, n->removed);
	return 0;
}

static int
write_config(struct new_container *n)
{
	const struct bundle_readers readers = readers_of_config(n);

	if (n->len == n->bundle.len && memcmp(n->text, n->bundle.text, n->len) == 0)
		return make_final(n);
	if (bundle_stage(&n->bundle, n->text, n->len, &readers, n->staged, &n->why) == -1 ||
	    make_final(n) == -1 || bundle_commit(&n->bundle, n->staged, &n->why) == -1)
		return -1;
	n->staged[0] = '\0';
	return 0;
}

/*
 * Tells the helper of a refusal or of a plain container. Returns -1 if a plain container can't be recorded:
 * with audit.plain, it is then not made.
 */
static int
record_ungranted(struct new_container *n, enum verb verb)
{
	struct helper_conn a;
	struct reply reply;
	struct why why;
	int ret;

	if (new_container_fill_request(n, verb) == -1)
		return -1;
	if (verb == VERB_REFUSED) {
		free(n->request.untrusted.token);
		n->request.untrusted.token = NULL;
		free(n->request.reason);
		n->request.reason = strdup(n->why.text);
	} else if (n->removed[0] != '\0')
		n->request.reason = strdup(n->removed);
	ret = ask(&n->request, n->settings->door, &a, &reply, &why);
	if (ret == 0 && reply.kind == REPLY_REFUSED) {
		why = reply.why;
		ret = -1;
	}
	ask_end(&a);
	reply_free(&reply);
	if (ret == -1 && verb == VERB_PLAIN)
		n->why = why;
	return ret;
}

/* Makes the bundle ready for the runtime. -1 with n->why, for the user: no container. */
static int
prepare_bundle(struct new_container *n, struct prepared *p)
{
	bool asks = false;

	if (new_container_check(n, &asks) == -1 || new_container_check_root(n, &p->root_redirectable, &p->root,
	    &n->why) == -1) {
		(void)record_ungranted(n, VERB_REFUSED);
		return -1;
	}
	if (asks || n->settings->grant_unasked) {
		if (ask_for_grant(n) == -1) {
			/*
			 * the helper records its own refusals; this is for one that came later, or when the
			 * helper gave no answer
			 */
			if (n->reply.kind != REPLY_REFUSED) {
				ask_end(n->conn);
				(void)record_ungranted(n, VERB_REFUSED);
			}
			return -1;
		}
	} else if (!n->settings->audit_plain)
		ask_cancel_early();
	if (!n->granted && n->privilege[0] != '\0')
		return privilege_refuse(&n->spec, n->settings, n->privilege, &n->why);
	if (compose_config(n) == -1 || (!n->granted && n->settings->audit_plain && record_ungranted(n, VERB_PLAIN) == -1))
		return -1;
	return write_config(n);
}

/* Says what the container asks for in a way that gpuhelper does not hear. */
static void
warn_of_mistakes(const struct new_container *n)
{
	char misspelt[NOTE_MAX];

	if (n->removed[0] != '\0')
		report_warning(n->command, n->removed);
	misspelt_tell(&n->spec, misspelt);
	if (misspelt[0] != '\0')
		report_warning(n->command, misspelt);
}

void
prepared_free(struct prepared *p)
{
	folder_mounts_free(&p->folders);
	node_access_free(&p->access);
	free(p->cgroups_path);
}

int
prepare_container(const struct command *c, const struct settings *settings, const char *runtime, bool scan_first,
    struct prepared *p, struct why *why)
{
	struct new_container n = { .command = c, .settings = settings, .runtime = runtime, .rootfd = -1,
		.bundle = { .dir = -1 }, .conn = &p->conn, .access = &p->access, .request.retry.scan_first = scan_first };
	int ret = prepare_bundle(&n, p);
	size_t i;

	ask_unused_end();
	/* a refusal too: what stays in may be the reason */
	if (n.stale)
		report_warning(c, "config.json does not fit its mark (" GRANTMARK_KEY "): it was changed or moved since gpuhelper "
		    "added to it, so what it added stays in: remove that and the annotation, or make the bundle anew");
	for (i = 0; ret == 0 && i < n.reply.edits.notes.n; i++)
		report_warning(c, n.reply.edits.notes.v[i]);
	if (ret == 0)
		warn_of_mistakes(&n);
	*why = n.why;
	p->granted = n.granted;
	p->promised = n.granted && n.reply.edits.promise;
	if (ret == 0 && n.granted)
		ret = folder_mounts_of(&n.reply.edits, &p->folders, why);
	p->check_rules = n.granted && new_container_hides_gpus(&n) && namespace_is_hosts_root();
	p->check_capabilities = new_container_checks_capabilities(&n);
	if (ret == -1) {
		p->conn.stays = false;
		node_access_free(&p->access);
	} else {
		p->cgroups_path = n.request.spec.cgroups_path;
		n.request.spec.cgroups_path = NULL;
	}
	new_container_free(&n);
	return ret;
}
