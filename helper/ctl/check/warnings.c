/*
 * See check.h: warns about policies that may not mean what their author thinks.  Looks at this host's folders, users
 * and GPUs, and changes nothing.  Gives no warning about parts of the host that this user can't look at.
 */
#include "../../policy/folderholds.h"
#include "warn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/file.h"
#include "../../host/folder/hardlinks.h"
#include "../../host/selinux.h"
#include "../../host/users.h"
#include "../../label/loaded.h"
#include "warn_parts.h"

#define NAMES_SHOWN 3		/* overlapping files that one warning names */
#define HELPER_LABEL "system_u:system_r:gpuhelper_label_t:s0"

static void
list_callers(const struct policy *p, char *out, size_t size)
{
	autobuf struct buf b = { 0 };
	size_t i;

	if (!p->has_callers)
		buf_puts(&b, "root and of every member of group gpuhelper");
	for (i = 0; i < p->callers.n; i++)
		buf_printf(&b, "%s%s", i == 0 ? "user " : ", ", p->callers.v[i]);
	snprintf(out, size, "%s", b.failed || b.p == NULL ? "its callers" : b.p);
}

static void
warn_identity(struct checked *c, const struct settings *settings)
{
	const struct policy *p = &c->policy;
	char callers[64];

	list_callers(p, callers, sizeof(callers));
	if (p->identity == IDENTITY_CLAIM)
		fault_add(&c->faults, key_line(c, "identity"), true, "identity = \"claim\" needs no proof: any task on this "
		    "worker, a pull request's too, can claim to be %.40s/%.40s and get what this policy gives", p->team,
		    p->pipeline);
	else if (p->identity == IDENTITY_CALLER)
		fault_add(&c->faults, key_line(c, "identity"), true, "identity = \"caller\" covers every container of %s: a "
		    "pull request's task also gets what this policy gives%s", callers,
		    settings->grant_unasked ? ", even without a request" : "");
}

/* In the tokens of some CIs, a project's name has the groups that it is in. */
static bool
has_nested_names(const char *issuer, const struct settings *settings)
{
	size_t i;

	for (i = 0; i < settings->issuers; i++)
		if (issuer == NULL || strcmp(issuer, settings->issuer[i].url) == 0)
			return settings->issuer[i].claims.team == NULL && settings->issuer[i].claims.pipeline != NULL;
	return false;
}

static void
warn_pipeline(struct checked *c, const struct settings *settings)
{
	const struct policy *p = &c->policy;

	if (p->pipeline != NULL && strchr(p->pipeline, '/') != NULL && !has_nested_names(p->issuer, settings))
		fault_add(&c->faults, key_line(c, "pipeline"), true, "pipeline \"%.80s/%.120s\" means one whose name is \"%.120s\", "
		    "with a slash in it; jobs and instance_vars are settings of their own", p->team, p->pipeline, p->pipeline);
}

/* Warns each time: nothing else in a policy gives as much. */
static void
warn_privileged(struct checked *c, const struct settings *settings)
{
	const struct policy *p = &c->policy;

	if (!p->privileged)
		return;
	if (settings->privileged == PRIVILEGED_DENY)
		fault_add(&c->faults, key_line(c, "privileged"), true, "privileged = true makes containers of %.80s/%.80s the host's "
		    "root: what runs there can open every GPU and folder, whatever the other policies say. No pull request may "
		    "write what that pipeline runs", p->team, p->pipeline);
	else
		fault_add(&c->faults, key_line(c, "privileged"), true, "privileged = true has no effect: gpuhelper.conf lets every "
		    "container be privileged. Say privileged = \"deny\" there");
	if (p->gpus > 0)
		fault_add(&c->faults, key_line(c, "gpus"), true, "a privileged container keeps its GPUs until the container "
		    "ends, and Concourse keeps that of a failed task for days. Let tasks that are not privileged use the GPUs");
}

static void
warn_callers(struct checked *c)
{
	uint32_t uid;
	size_t i;

	for (i = 0; i < c->policy.callers.n; i++)
		if (!user_uid(c->policy.callers.v[i], &uid, NULL))
			fault_add(&c->faults, key_line(c, "callers"), true, "caller \"%.100s\" is not in /etc/passwd of this host",
			    c->policy.callers.v[i]);
}

/* Warns if this policy overlaps earlier ones. */
static void
warn_overlap(struct check_set *s, size_t at)
{
	struct checked *c = &s->v[at];
	autobuf struct buf b = { 0 };
	unsigned n = 0;
	size_t i;

	for (i = 0; i < at; i++)
		if (is_policy(&s->v[i]) && policies_overlap(&s->v[i].policy, &c->policy) && ++n <= NAMES_SHOWN)
			buf_printf(&b, "%s%.40s", n > 1 ? ", " : "", s->v[i].policy.name);
	if (n > NAMES_SHOWN)
		buf_printf(&b, " and %u more", n - NAMES_SHOWN);
	if (n > 0 && !b.failed)
		fault_add(&c->faults, key_line(c, c->policy.pipeline != NULL ? "pipeline" : "identity"), true,
		    "overlaps %s: for a container that both cover, this policy may grant what the other refuses", b.p);
}

/* Warns about a folder inside another rule's writable folder. */
static void
warn_nesting(struct check_set *s, struct checked *c)
{
	const struct folder_rule *r, *outer;
	bool found;
	size_t i, k, n;

	for (n = 0; n < c->policy.folders; n++) {
		r = &c->policy.folder[n];
		for (found = false, i = 0; !found && i < s->n; i++)
			for (k = 0; !found && is_policy(&s->v[i]) && k < s->v[i].policy.folders; k++) {
				outer = &s->v[i].policy.folder[k];
				if (!(found = folder_rule_holds(outer, r->path)))
					continue;
				fault_add(&c->faults, r->line, true, "folder %.120s is inside %.120s, to which %.40s gives write access: it is "
				    "refused while a container without a user namespace has the outer folder", r->path, outer->path,
				    s->v[i].policy.name);
			}
	}
}

/*
 * Warns if the policy's issuer is not in gpuhelper.conf. A policy that takes tokens and does not say which of several
 * issuers it means is an error (policy_takes()).
 */
static void
warn_issuer(struct checked *c, const struct settings *settings)
{
	const char *issuer = c->policy.issuer;
	size_t i;

	if (issuer == NULL && c->policy.identity == IDENTITY_TOKEN && settings->several_issuers)
		fault_add(&c->faults, key_line(c, "identity"), false, "gpuhelper.conf has several issuers, so the policy grants "
		    "nothing until it says whose tokens it accepts: issuer = \"%.100s\"", settings->issuer[0].url);
	if (issuer == NULL || settings->issuers == 0)
		return;
	for (i = 0; i < settings->issuers; i++)
		if (strcmp(settings->issuer[i].url, issuer) == 0)
			return;
	fault_add(&c->faults, key_line(c, "issuer"), true, "gpuhelper.conf has no issuer %.100s: the policy grants nothing",
	    issuer);
}

/* Makes a label that a container of this policy could have.  False, with a warning, if SELinux does not know it. */
static bool
sample_label(struct checked *c, char out[SECONTEXT_MAX])
{
	const struct policy *p = &c->policy;
	const char *type = p->selinux_type != NULL ? p->selinux_type : SECONTEXT_CONTAINER_TYPE;
	const bool automatic = p->selinux_level == NULL || strcmp(p->selinux_level, "auto") == 0;

	snprintf(out, SECONTEXT_MAX, "system_u:system_r:%s:%s", type, automatic ? "s0:c0,c1" : p->selinux_level);
	switch (loaded_has(out)) {
	case 1:
		return true;
	case 0:
		fault_add(&c->faults, key_line(c, "selinux"), true, "SELinux on this host has no label %s%s: if it enforces, "
		    "containers of this policy are refused", out, p->selinux_type == NULL ? " (make install-selinux)" : "");
	}
	return false;
}

/* Warns if the helper could not relabel the folder. */
static void
warn_relabel(struct checked *c, const struct folder_rule *r, int fd)
{
	static const char *const from[] = { "getattr", "relabelfrom", NULL };
	char has[SECONTEXT_MAX];
	int may = -1;

	if (hardlinks_protected() == 0)
		fault_add(&c->faults, r->line, true, "gpuhelper does not relabel %s while users may make hard links to files of "
		    "others: sysctl fs.protected_hardlinks=1", r->path);
	if (fd == -1 || !selinux_label_of(fd, has) || (may = loaded_lets(HELPER_LABEL, has, "dir", from)) == 1)
		return;
	if (may == 0)
		fault_add(&c->faults, r->line, true, "gpuhelper may not relabel %s, which is labelled %s: for folders with the "
		    "labels of /srv and /mnt, setsebool -P gpuhelper_relabel_folders on", r->path, has);
	else if (errno == EINVAL)
		fault_add(&c->faults, r->line, true, "gpuhelper can't relabel %s until the SELinux module gpuhelper is loaded: make "
		    "install-selinux", r->path);
}

/* Warns about folders that SELinux would keep from this policy's containers. */
static void
warn_selinux(struct checked *c)
{
	char label[SECONTEXT_MAX], has[SECONTEXT_MAX];
	enum selinux_state state;
	struct why why;
	size_t i;

	if (selinux_state(&state, &why) == -1 || state == SELINUX_ABSENT || !sample_label(c, label))
		return;
	for (i = 0; i < c->policy.folders; i++) {
		const struct folder_rule *r = &c->policy.folder[i];
		autoclose int fd = open(r->path, O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (r->relabel != RELABEL_NO)
			warn_relabel(c, r, fd);
		else if (fd != -1 && selinux_label_of(fd, has) &&
		    loaded_lets_use(label, has, r->writable ? LABEL_WRITE_FOLDER : LABEL_READ_FOLDER) == 0)
			fault_add(&c->faults, r->line, true, "SELinux keeps containers of this policy from %s, which is labelled "
			    "%s: semanage fcontext -a -t " SECONTEXT_FILE_TYPE " '%s(/.*)?' && restorecon -RF %s", r->path, has,
			    r->path, r->path);
	}
}

/* Warns if "9-x.conf" comes after "10-x.conf": the author most likely means the order of the numbers. */
static void
warn_order(struct check_set *s, size_t at)
{
	struct checked *c = &s->v[at];
	char *end;
	const unsigned long number = strtoul(c->policy.name, &end, 10);
	size_t i;

	if (end == c->policy.name)
		return;
	for (i = 0; i < at; i++)
		if (is_policy(&s->v[i]) && strtoul(s->v[i].policy.name, &end, 10) > number && end != s->v[i].policy.name) {
			fault_add(&c->faults, 0, true, "comes after %.60s, as names are compared byte by byte: give all numbers the "
			    "same number of digits", s->v[i].policy.name);
			return;
		}
}

void
warn_about(struct check_set *s)
{
	struct host_gpus view;
	struct checked *c;
	size_t i;

	host_gpus_find(s, &view);
	for (i = 0; i < s->n; i++) {
		c = &s->v[i];
		if (!is_policy(c))
			continue;
		warn_order(s, i);
		warn_identity(c, &s->settings);
		warn_pipeline(c, &s->settings);
		warn_privileged(c, &s->settings);
		warn_callers(c);
		warn_issuer(c, &s->settings);
		warn_claims(c, &s->settings);
		warn_overlap(s, i);
		warn_nesting(s, c);
		warn_folders(c, &s->settings);
		warn_selinux(c);
		warn_gpus(c, s, &view);
	}
	if (s->settings_at != SIZE_MAX)
		warn_settings(s);
	host_gpus_free(&view);
}
