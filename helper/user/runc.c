/*
 * gpuhelper-runc, the wrapper: an OCI runtime like any other to the engine that calls it. Runs with the
 * caller's rights, and must never have more.
 * Every verb goes through here, so the wrapper passes on at once what it need not change. For a bundle that
 * becomes a container, it reads config.json, asks the helper if the container asks for anything, writes the
 * new config.json, and becomes the runtime.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../host/cgroup/cgroup.h"
#include "../host/file.h"
#include "../host/gpu/majors.h"
#include "../kernel/secontext.h"
#include "../read/conf/settingsread.h"
#include "../read/load.h"
#include "ask/ask.h"
#include "ask/lease.h"
#include "ask/recordclean.h"
#include "cgroup/cgroupabove.h"
#include "cgroup/nodeaccess.h"
#include "command/argv.h"
#include "command/message.h"
#include "command/namespace.h"
#include "command/optioncheck.h"
#include "command/runtime.h"
#include "compose/adaptgrant.h"
#include "compose/compose.h"
#include "compose/duplicates.h"
#include "compose/grantmark.h"
#include "compose/removed.h"
#include "mount/createdpaths.h"
#include "mount/foldermounts.h"
#include "mount/nodes.h"
#include "mount/rootfs.h"
#include "mount/sources.h"
#include "privilege/annotations.h"
#include "privilege/privilege.h"
#include "privilege/resources.h"
#include "record/recorddir.h"
#include "record/vetted.h"
#include "spec/bundle.h"
#include "spec/cudavisible.h"
#include "spec/misspelt.h"
#include "spec/spec.h"
#include "spec/speccapability.h"
#include "task/waiterfile.h"
#include "vet/vetting.h"
#include "create.h"
#include "exec.h"
#include "update.h"

/* A container that is about to be made. */
struct making {
	const struct command *command;
	const struct settings *settings;
	const char *runtime;
	struct bundle bundle;
	struct spec spec;
	struct request request;
	struct devmajors majors;
	struct asking *asking;
	struct node_access *access;
	struct reply reply;
	char *before;			/* config.json without what an earlier grant added; NULL: nothing was added */
	bool stale;			/* it has a mark of such a grant that does not fit */
	char removed[NOTE_MAX];		/* a warning of what the container does not get; "": none */
	struct edits plain;		/* for a container without a grant: a label, at most */
	char privilege[PRIVILEGE_MAX];	/* why only a policy can allow the container: it is privileged; "": it is not */
	int rootfd;
	char *rootpath;
	char *text;			/* the new config.json */
	size_t len;
	char staged[64];
	bool granted;
	struct why why;
};

/* What create.c must know after the runtime has made the container. */
struct made {
	bool granted;
	bool promised;			/* the granted nodes must be closed until a task takes some (lease/pausing.h) */
	struct asking asking;		/* the helper may stay there until it has seen the container */
	bool check_rules;		/* root's container, whose device rules must be enforced */
	bool check_capabilities;	/* root's container without a user namespace, which must not be privileged */
	bool unguarded;			/* its root directory must be checked again */
	struct stat root;
	struct folder_mounts folders;
	struct node_access access;	/* to the granted nodes */
	char *cgroups_path;		/* the container's; NULL or "" without one */
};

static void
making_free(struct making *m)
{
	bundle_discard(&m->bundle, m->staged);
	if (!m->asking->stays)
		ask_end(m->asking);
	reply_free(&m->reply);
	edits_free(&m->plain);
	request_free(&m->request);
	spec_free(&m->spec);
	devmajors_free(&m->majors);
	if (m->rootfd != -1)
		close(m->rootfd);
	free(m->rootpath);
	free(m->before);
	free(m->text);
	bundle_close(&m->bundle);
}

static int
fill_request(struct making *m, enum verb verb)
{
	const struct command *c = m->command;
	struct request *r = &m->request;

	r->verb = verb;
	r->at_once = verb == VERB_GRANT && strcmp(c->verb, "create") != 0;
	r->systemd_cgroup = c->systemd_cgroup;
	if (r->id == NULL)
		r->id = strdup(c->id);
	if (r->runtime_root == NULL)
		r->runtime_root = strdup(c->root != NULL ? c->root : "");
	if (r->cgroups_path == NULL)
		r->cgroups_path = strdup("");
	return r->id != NULL && r->runtime_root != NULL && r->cgroups_path != NULL ? 0 : refuse_nomem(&m->why);
}

static bool
is_hosts_root(void)
{
	return geteuid() == 0 && !namespace_has_false_root();
}

/* True if the wrapper can put its waiter in front of the container's tasks, and can close its nodes until then. */
static bool
can_promise(const struct making *m)
{
	const struct spec_mount *proc = spec_mount_at(&m->spec, "/proc");

	return strcmp(m->command->verb, "create") == 0 && is_hosts_root() && !m->command->systemd_cgroup &&
	    !m->command->without_cgroup && waiter_is_usable() && proc != NULL && proc->type != NULL &&
	    strcmp(proc->type, "proc") == 0;
}

/*
 * Finds the engine's own program that pauses as process 1. It is bound into the container from a place that
 * no task can write to. A program of the same name that a task brings along is another file.
 */
static int
find_placeholder(struct making *m)
{
	const char *path = m->spec.first_arg;
	const struct spec_mount *from;
	struct stat st;

	if (path == NULL || !strlist_has(&m->settings->placeholder_init, path) ||
	    (from = spec_bind_at(&m->spec, path)) == NULL || rootfs_is_in_volumes(from->source, m->settings) ||
	    stat(from->source, &st) == -1 || !S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & 022) != 0)
		return 0;
	m->request.init_file = (struct file_id){ major(st.st_dev), minor(st.st_dev), st.st_ino };
	m->request.promises = can_promise(m);
	return (m->request.init_path = strdup(path)) != NULL ? 0 : refuse_nomem(&m->why);
}

static int
read_majors(struct making *m)
{
	const int root = file_root();

	if (root == -1)
		return refuse(&m->why, WHY_IO, "/: %s", strerror(errno));
	return majors_read(root, &m->majors, &m->why);
}

/*
 * True if a container has the directory above root.path mounted writable, and keeps it. A service or a container that
 * is starting has the host's root mounted so for a moment, before it leaves that root.
 */
static bool
stays_written_above(const struct making *m)
{
	const struct timespec nap = { .tv_nsec = 50 * 1000000 };
	unsigned looks;

	for (looks = 0; rootfs_is_written_above(m->rootpath, m->settings); looks++) {
		if (looks == 20)
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

/* True if the capabilities of root's container are to be checked once the runtime has made it. */
static bool
needs_capability_check(const struct making *m)
{
	return m->settings->privileged == PRIVILEGED_DENY && is_hosts_root() && !m->spec.user_namespace &&
	    m->privilege[0] == '\0';
}

/*
 * If another user can write on the way to the root directory, the directory must be checked again after the runtime has
 * used it. Where «create» waits for the runtime in any case, that costs less than a look at all processes, which shows
 * whether somebody can write there.
 */
static int
check_way_to_root(const struct making *m, struct made *made, struct why *why)
{
	const bool creates = strcmp(m->command->verb, "create") == 0;
	const char *root = m->rootpath;

	made->unguarded = !rootfs_is_guarded(&m->spec, m->bundle.path, root) || (!creates ? stays_written_above(m) :
	    needs_capability_check(m) ? rootfs_may_be_written_above(root, m->settings) :
	    rootfs_is_written_above(root, m->settings));
	if (!made->unguarded)
		return 0;
	if (fstat(m->rootfd, &made->root) == -1)
		return refuse(why, WHY_IO, "root.path %s: %s", root, strerror(errno));
	return creates ? 0 : refuse(why, WHY_DENIED, "root.path %s: others than root may write above it, and «%s» starts the "
	    "container before its root directory can be checked: use create, or keep the image where only root may write",
	    root, m->command->verb);
}

/*
 * In a cgroup that already has processes, the runtime would replace their device rules: a container there that has
 * a GPU would lose it, but keep the lease. In a cgroup beneath another container's, this container would prolong
 * the other container's lease.
 */
static int
check_cgroup_is_free(const struct making *m, struct why *why)
{
	const struct request *r = &m->request;
	autostrlist struct strlist places = { 0 };
	unsigned dirs = CGROUP_DIRS;

	if (!is_hosts_root())
		return 0;
	if (cgroup_candidates(getpid(), r->cgroups_path, r->id, &places, why) == -1)
		return -1;
	if (cgroup_populated(&places, &dirs))
		return refuse(why, WHY_DATA, "the container's cgroup %s has processes in it already: give it one of its own",
		    *r->cgroups_path ? r->cgroups_path : r->id);
	return !cgroup_is_in_others(&places) ? 0 : refuse(why, WHY_DENIED, "the container's cgroup %s is beneath another "
	    "container's: give it a path elsewhere", *r->cgroups_path ? r->cgroups_path : r->id);
}

/* True if GPUs that were not granted are taken away from the container. */
static bool
hides_gpus(const struct making *m)
{
	return !(m->request.privileged && m->settings->privileged == PRIVILEGED_ALLOW);
}

static int
check_privilege(struct making *m)
{
	if (privilege_find(&m->spec, &m->request, is_hosts_root(), m->command->no_pivot, m->privilege, &m->why) == -1)
		return -1;
	if (!m->request.privileged || m->settings->privileged != PRIVILEGED_DENY)
		m->privilege[0] = '\0';
	/* the helper decides whether the policy of a pipeline that a token proves allows it */
	if (m->privilege[0] == '\0' || m->request.token != NULL)
		return 0;
	return privilege_refuse(&m->spec, m->settings, m->privilege, &m->why);
}

/*
 * Has the helper get ready while this process parses and checks config.json. The names may also stand in words that the
 * task's author chose: a helper that gets no request grants nothing, and records nothing.
 */
static void
ask_ahead_if_likely(const struct making *m)
{
	if (m->settings->grant_unasked || spec_may_ask(m->bundle.text, m->bundle.len))
		ask_ahead(m->settings->door);
}

/* Checks everything that applies to every container, whatever it asks for. */
static int
check_bundle(struct making *m, bool *asks)
{
	if (bundle_open(m->command->bundle, &m->bundle, &m->why) == -1)
		return -1;
	ask_ahead_if_likely(m);
	if (grantmark_parse(&m->spec, &m->bundle, &m->before, &m->stale, &m->why) == -1)
		return -1;
	if (spec_request(&m->spec, m->settings, &m->request, asks, &m->why) == -1 || fill_request(m, VERB_GRANT) == -1)
		return -1;
	m->spec.bundle = m->bundle.path;
	if (find_placeholder(m) == -1 || lease_note_allocation(m->settings, &m->request, &m->why) == -1 ||
	    options_check(m->command, m->settings, is_hosts_root(), &m->why) == -1 ||
	    rootfs_open(&m->spec, m->bundle.path, m->settings, geteuid(), &m->rootfd, &m->rootpath, &m->why) == -1 ||
	    sources_check(&m->spec, &m->why) == -1 || check_privilege(m) == -1 ||
	    resources_check(&m->spec.doc, m->spec.resources, &m->why) == -1 ||
	    annotations_check(&m->spec, is_hosts_root(), &m->why) == -1 || check_cgroup_is_free(m, &m->why) == -1 ||
	    read_majors(m) == -1)
		return -1;
	return hides_gpus(m) && !namespace_has_device_cgroup() ? nodes_check_mounts(&m->spec, &m->majors, &m->why) : 0;
}

/*
 * Refuses a container that can't open its nodes, whatever its cgroup will be, while the grant can still be undone. If
 * that is not certain, create.c checks the container. After «run» nothing can be checked, so its user is told now.
 */
static int
check_node_access(struct making *m)
{
	struct why why;

	if (node_access_of(&m->reply.edits, m->access, &m->why) == -1)
		return -1;
	if (node_access_is_lost(m->access, m->request.cgroups_path, m->request.id))
		return node_access_refuse(m->access, &m->why);
	if (m->access->denials > 0 && !command_leaves_container(m->command)) {
		node_access_refuse(m->access, &why);
		report_notice(m->command, why.text);
	}
	return 0;
}

static int
warn_of_variables(struct making *m)
{
	struct edits *e = &m->reply.edits;
	char note[NOTE_MAX];

	return !cuda_visible_warns(&m->spec.env_text, &e->env, &e->gpus, note) || edits_add_note(e, "%s", note) ? 0 :
	    refuse_nomem(&m->why);
}

static int
ask_for_grant(struct making *m)
{
	if (lease_ask(m->command, &m->request, m->settings->door, m->asking, &m->reply, &m->why) == -1)
		return -1;
	switch (m->reply.kind) {
	case REPLY_GRANT:
		break;
	case REPLY_PLAIN:
		ask_end(m->asking);
		return 0;
	default:
		m->why = m->reply.why;
		privilege_explain(&m->spec, m->settings, m->privilege, &m->why);
		return -1;
	}
	m->granted = true;
	if (is_hosts_root() && vetting_check(&m->reply, &m->request, m->settings, &m->majors, &m->why) == -1)
		return -1;
	if (duplicates_mark(&m->spec, &m->reply.edits, &m->why) == -1 ||
	    rootfs_check_conflicts(&m->spec, m->rootfd, m->rootpath, &m->reply.edits, &m->why) == -1 ||
	    created_paths_check(&m->spec, m->rootfd, &m->reply.edits, &m->why) == -1 || check_node_access(m) == -1)
		return -1;
	return adapt_grant(m->runtime, &m->spec, &m->reply.edits, &m->why) == -1 ? -1 : warn_of_variables(m);
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
label_plain(struct making *m)
{
	char level[32], label[96], mount[96];
	uint32_t random;

	if (m->granted || !m->settings->plain_container || m->spec.label != NULL || keeps_its_domain(&m->spec) ||
	    access("/sys/fs/selinux/enforce", F_OK) == -1)
		return 0;
	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return refuse(&m->why, WHY_BUG, "getrandom: %s", strerror(errno));
	level_pair(random, level);
	snprintf(label, sizeof(label), "system_u:system_r:container_t:%s", level);
	snprintf(mount, sizeof(mount), "system_u:object_r:" SECONTEXT_FILE_TYPE ":%s", level);
	m->plain.label = strdup(label);
	m->plain.mount_label = strdup(mount);
	return m->plain.label != NULL && m->plain.mount_label != NULL ? 0 : refuse_nomem(&m->why);
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
readers_of_config(const struct making *m)
{
	struct bundle_readers r = { .secret = m->granted && m->reply.edits.env_secret,
		.hook = m->granted && m->spec.user_namespace && has_container_hook(&m->spec, &m->reply.edits) };

	r.mapped = idmap_out(&m->request.uids, 0, &r.uid) && idmap_out(&m->request.gids, 0, &r.gid);
	return r;
}

/* What execs into the container will get (exec.c). */
static int
note_vetted(struct making *m)
{
	const struct edits *e = &m->reply.edits;
	const struct vetted v = { &e->env, e->gid, e->gids, e->label, m->request.privileged, e->promise };

	return vetted_note(m->command, &v, &m->why);
}

/*
 * The helper stays to see the container only if the runtime ends before the container does. Otherwise this process
 * becomes the runtime and can't ask again.
 */
static int
make_final(struct making *m)
{
	if (m->granted && record_dir_is_ours() && note_vetted(m) == -1)
		return -1;
	return m->granted ? ask_final(m->asking, command_leaves_container(m->command), &m->why) : 0;
}

static int
mark_grant(struct making *m)
{
	char *marked = grantmark_add(&m->spec, &m->reply.edits, m->bundle.path, m->text, &m->len, &m->why);

	if (marked == NULL)
		return -1;
	free(m->text);
	m->text = marked;
	return 0;
}

static int
compose_config(struct making *m)
{
	const bool hide = hides_gpus(m);

	/* one of the same name may have been granted something */
	if (!m->granted && record_dir_is_ours() && m->command->id != NULL)
		vetted_forget(m->command);
	if (label_plain(m) == -1)
		return -1;
	m->text = compose(&m->spec, &m->majors, m->granted ? &m->reply.edits : &m->plain, hide, &m->len, &m->why);
	if (m->text == NULL || (m->granted && mark_grant(m) == -1))
		return -1;
	removed_tell(&m->spec, hide, m->granted, m->removed);
	return 0;
}

static int
write_config(struct making *m)
{
	const struct bundle_readers readers = readers_of_config(m);

	if (m->len == m->bundle.len && memcmp(m->text, m->bundle.text, m->len) == 0)
		return make_final(m);
	if (bundle_stage(&m->bundle, m->text, m->len, &readers, m->staged, &m->why) == -1 ||
	    make_final(m) == -1 || bundle_commit(&m->bundle, m->staged, &m->why) == -1)
		return -1;
	m->staged[0] = '\0';
	return 0;
}

/*
 * Tells the helper of a refusal or of a plain container. Returns -1 if a plain container can't be recorded:
 * with audit.plain, it is then not made.
 */
static int
record_ungranted(struct making *m, enum verb verb)
{
	struct asking a;
	struct reply reply;
	struct why why;
	int ret;

	if (fill_request(m, verb) == -1)
		return -1;
	if (verb == VERB_REFUSED) {
		free(m->request.token);
		m->request.token = NULL;
		free(m->request.reason);
		m->request.reason = strdup(m->why.text);
	} else if (m->removed[0] != '\0')
		m->request.reason = strdup(m->removed);
	ret = ask(&m->request, m->settings->door, &a, &reply, &why);
	if (ret == 0 && reply.kind == REPLY_REFUSED) {
		why = reply.why;
		ret = -1;
	}
	ask_end(&a);
	reply_free(&reply);
	if (ret == -1 && verb == VERB_PLAIN)
		m->why = why;
	return ret;
}

/* Makes the bundle ready for the runtime. -1 with m->why, for the user: no container. */
static int
prepare_bundle(struct making *m, struct made *made)
{
	bool asks = false;

	if (check_bundle(m, &asks) == -1 || check_way_to_root(m, made, &m->why) == -1) {
		(void)record_ungranted(m, VERB_REFUSED);
		return -1;
	}
	if (asks || m->settings->grant_unasked) {
		if (ask_for_grant(m) == -1) {
			/*
			 * the helper records its own refusals; this is for one that came later, or when the
			 * helper gave no answer
			 */
			if (m->reply.kind != REPLY_REFUSED) {
				ask_end(m->asking);
				(void)record_ungranted(m, VERB_REFUSED);
			}
			return -1;
		}
	} else if (!m->settings->audit_plain)
		ask_unused();
	if (!m->granted && m->privilege[0] != '\0')
		return privilege_refuse(&m->spec, m->settings, m->privilege, &m->why);
	if (compose_config(m) == -1 || (!m->granted && m->settings->audit_plain && record_ungranted(m, VERB_PLAIN) == -1))
		return -1;
	return write_config(m);
}

/* Says what the container asks for in a way that gpuhelper does not hear. */
static void
warn_of_mistakes(const struct making *m)
{
	char misspelt[NOTE_MAX];

	if (m->removed[0] != '\0')
		report_warning(m->command, m->removed);
	misspelt_tell(&m->spec, misspelt);
	if (misspelt[0] != '\0')
		report_warning(m->command, misspelt);
}

static int
make_container(const struct command *c, const struct settings *settings, const char *runtime, struct made *made,
    struct why *why)
{
	struct making m = { .command = c, .settings = settings, .runtime = runtime, .rootfd = -1,
		.bundle = { .dir = -1 }, .asking = &made->asking, .access = &made->access };
	int ret = prepare_bundle(&m, made);
	size_t i;

	ask_unused_end();
	/* a refusal too: what stays in may be the reason */
	if (m.stale)
		report_warning(c, "config.json does not fit its mark (" GRANTMARK_KEY "): it was changed or moved since gpuhelper "
		    "added to it, so what it added stays in: remove that and the annotation, or make the bundle anew");
	for (i = 0; ret == 0 && i < m.reply.edits.notes.n; i++)
		report_warning(c, m.reply.edits.notes.v[i]);
	if (ret == 0)
		warn_of_mistakes(&m);
	*why = m.why;
	made->granted = m.granted;
	made->promised = m.granted && m.reply.edits.promise;
	if (ret == 0 && m.granted)
		ret = folder_mounts_of(&m.reply.edits, &made->folders, why);
	made->check_rules = m.granted && hides_gpus(&m) && is_hosts_root();
	made->check_capabilities = needs_capability_check(&m);
	if (ret == -1) {
		made->asking.stays = false;
		node_access_free(&made->access);
	} else {
		made->cgroups_path = m.request.cgroups_path;
		m.request.cgroups_path = NULL;
	}
	making_free(&m);
	return ret;
}

/* True if this verb may end a lease. The wrapper then waits for the runtime instead of becoming it. */
static bool
may_end_lease(const struct command *c)
{
	if (c->verb == NULL)
		return false;
	if (strcmp(c->verb, "delete") == 0)
		return lease_is_recorded(c);
	return command_makes_container(c) && !command_leaves_container(c);
}

/*
 * Loads the settings and finds the runtime. From broken settings, it takes the runtime's path if that can still be
 * read.
 */
static char *
load_settings_and_runtime(struct settings *settings, int *settings_ok, struct why *why)
{
	autofree char *dir = namespace_path(GPUHELPER_CONFDIR), *text = NULL, *salvaged = NULL;
	struct why broken;
	char *runtime;

	*settings_ok = settings_load(dir != NULL ? dir : GPUHELPER_CONFDIR, true, settings, NULL, &text, &broken);
	if (*settings_ok == -1 && text != NULL)
		salvaged = settings_salvage_runtime(text);
	runtime = runtime_find(*settings_ok == 0 ? settings->runtime : salvaged, why);
	if (*settings_ok == -1 && runtime != NULL)
		*why = broken;
	return runtime;
}

static int
run_verb(struct command *c, int argc, char *const *argv, struct why *why)
{
	autosettings struct settings settings = { 0 };
	autofree char *runtime = NULL;
	struct made made = { .asking = ASKING_NONE };
	int settings_ok, status;

	if ((runtime = load_settings_and_runtime(&settings, &settings_ok, why)) == NULL)
		return -1;
	if (command_makes_container(c) && settings_ok == -1)
		return -1;
	if (may_end_lease(c))
		switch (runtime_fork(&status, false, why)) {
		case 0:
			if (lease_is_recorded(c))
				lease_check_over(c, settings.door, status);
			if (c->id != NULL && (status == 0 || strcmp(c->verb, "delete") != 0))
				records_forget(c);
			exit(status);
		case -1:
			return -1;
		}
	if (c->kind == KIND_EXEC && c->id != NULL &&
	    (argv = exec_prepare(argc, argv, c, runtime, &settings, why)) == NULL)
		return -1;
	if (c->verb != NULL && strcmp(c->verb, "start") == 0 && c->id != NULL && is_hosts_root() &&
	    lease_is_recorded(c) && create_check_start(c, why) == -1)
		return -1;
	if (c->kind == KIND_LIMITS && update_prepare(argc, &argv, c, why) == -1)
		return -1;
	if (command_makes_container(c) && make_container(c, &settings, runtime, &made, why) == -1)
		return -1;
	/* without --detach, the process that asked for the grant becomes the runtime itself, below */
	if (command_leaves_container(c) && (made.granted || made.unguarded ||
	    (made.check_capabilities && strcmp(c->verb, "create") == 0))) {
		const struct creation creation = { c, settings.door, runtime, argv, made.granted, made.promised,
			made.check_rules, made.check_capabilities, made.unguarded ? &made.root : NULL, &made.folders, &made.access,
			made.cgroups_path, &made.asking };

		if (create_container(&creation, why) == -1)
			return -1;
	}
	folder_mounts_free(&made.folders);
	node_access_free(&made.access);
	free(made.cgroups_path);
	return runtime_exec(runtime, argv, why);
}

int
main(int argc, char **argv)
{
	static struct command command;
	struct why why = { 0 };

	if (argc < 1)
		return 1;
	if (argc == 2 && strcmp(argv[1], "--gpuhelper-options") == 0)
		return verbs_show(STDOUT_FILENO) ? 0 : 1;
	if (argc == 2 && strcmp(argv[1], "--gpuhelper-version") == 0) {
		dprintf(STDOUT_FILENO, "gpuhelper-runc %s\n", GPUHELPER_VERSION);
		return 0;
	}
	runtime_begin();
	namespace_begin();
	if (argv_parse(argc, argv, &command, &why) == -1 || run_verb(&command, argc, argv, &why) == -1)
		report_error(&command, &why);
	return 1;
}
