/* See doctor.h: checks settings, policies and keys.  «check» and «keys show» report their errors in detail. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/file.h"
#include "../../policy/gpurule.h"
#include "../../read/load.h"
#include "../../read/parse.h"
#include "../keys/http.h"
#include "../keys/keys.h"
#include "../worker/privilegedrunning.h"
#include "../worker/readable.h"
#include "doctor.h"

#define SETTINGS GPUHELPER_CONFDIR "/gpuhelper.conf"

/* The wrapper reads the settings with the worker's rights.  Without them it creates no container. */
static bool
settings_good(struct doctor *d)
{
	autosettings struct settings s = { 0 };
	const bool read = settings_load(GPUHELPER_CONFDIR, true, &s, NULL, NULL, &d->why) == 0;

	if ((!read && access(SETTINGS, R_OK) == -1 && errno == EACCES) || !readable_by(d->uid, d->user, SETTINGS))
		doctor_say(d, FINDING_FAIL, "settings", "chmod 0755 " GPUHELPER_CONFDIR " && chmod 0644 " SETTINGS,
		    "%s can't be read by %s, the user of gpuhelper-runc: no container can be created", SETTINGS,
		    d->user != NULL ? d->user : "the worker's user");
	else if (!read)
		doctor_say(d, FINDING_FAIL, "settings", "gpuhelperctl check", "%s", d->why.text);
	else
		return true;
	return false;
}

static void
note_gpus(struct doctor *d, const struct policy *p)
{
	size_t i;

	for (i = 0; i < p->gpus; i++)
		if (p->gpu[i].kind == NULL)
			d->vendors |= gpu_rule_vendors(&p->gpu[i]);
		else
			strlist_add(&d->kinds, p->gpu[i].kind, SIZE_MAX);
	d->gives_gpus = d->gives_gpus || p->gpus > 0;
}

/* The number of policies that require a token.  -1, with a finding, if one is broken. */
static int
count_tokens(struct doctor *d, const struct policy_set *policies)
{
	const struct policy_entry *e;
	int tokens = 0;
	size_t i;

	for (i = 0; i < policies->n; i++) {
		e = &policies->v[i];
		if (e->broken != NULL) {
			doctor_say(d, FINDING_FAIL, "policies", "gpuhelperctl check", "%s", e->broken);
			return -1;
		}
		tokens += e->policy.identity == IDENTITY_TOKEN;
		note_gpus(d, &e->policy);
		if (e->policy.privileged)
			strlist_add(&d->privileged, e->policy.name, SIZE_MAX);
	}
	return tokens;
}

void
doctor_policies(struct doctor *d)
{
	autopolicyfiles struct policy_files files = { 0 };
	autopolicyset struct policy_set policies = { 0 };
	struct why why;
	int tokens;

	if (!settings_good(d))
		return;
	doctor_say(d, FINDING_OK, "settings", NULL, "%s/gpuhelper.conf, or the defaults", GPUHELPER_CONFDIR);
	if (policy_files_load(GPUHELPER_CONFDIR, true, &files, &why) == -1 ||
	    (!policies_parse(&files, &policies) && refuse_nomem(&why) == -1)) {
		if (files.hidden && geteuid() != 0)
			doctor_say(d, FINDING_OK, "policies", NULL, "only root can read them, which is enough; to check them, run "
			    "gpuhelperctl check as root");
		else
			doctor_say(d, FINDING_FAIL, "policies", "gpuhelperctl check", "%s", why.text);
		return;
	}
	if (files.n == 0)
		doctor_say(d, FINDING_WARN, "policies", NULL,
		    "%s/policy.d has none, so nothing is granted: see the examples there", GPUHELPER_CONFDIR);
	else if ((tokens = count_tokens(d, &policies)) > 0 && d->settings.issuers == 0)
		doctor_say(d, FINDING_FAIL, "policies", "set issuers = ( ... ) in gpuhelper.conf, see gpuhelper.conf(5), then "
		    "gpuhelperctl keys fetch", "%d of %zu require a token, but gpuhelper.conf has no issuers", tokens, files.n);
	else if (tokens >= 0)
		doctor_say(d, FINDING_OK, "policies", NULL, "%zu, of which %d require a token (gpuhelperctl check warns about "
		    "doubtful rules)", files.n, tokens);
}

/* A container without a grant gets no GPU only where it can't be privileged. */
void
doctor_privileged(struct doctor *d)
{
	autostrlist struct strlist now = { 0 };
	char running[400];

	(void)privileged_running(&now);
	privileged_running_text(&now, running, sizeof(running));
	if (d->settings.privileged != PRIVILEGED_DENY)
		doctor_say(d, FINDING_WARN, "privileged", "say privileged = \"deny\" in gpuhelper.conf", "gpuhelper.conf "
		    "lets every container be privileged: such a container can open every GPU%s%s",
		    now.n > 0 ? ", as now " : "", running);
	else if (d->privileged.n > 0)
		doctor_say(d, FINDING_OK, "privileged", NULL, "refused, except by %s%s: those containers are the host's root%s%s",
		    d->privileged.v[0], d->privileged.n > 1 ? " and others" : "", now.n > 0 ? "; now " : "", running);
	else if (now.n > 0)
		doctor_say(d, FINDING_WARN, "privileged", NULL, "refused, but now there is %s, which can open every GPU: end it, "
		    "unless it is the host's own", running);
	else
		doctor_say(d, FINDING_OK, "privileged", NULL, "refused");
}

static void
look_at_keys(struct doctor *d, const struct issuer_setting *i)
{
	static const char fetch[] = "gpuhelperctl keys fetch";
	autofree char *text = NULL;
	autojwks struct jwks *keys = NULL;
	autoclose int dir = -1;
	enum trust_found found;
	int64_t mtime = 0, age;
	struct why why;
	size_t len;

	if ((found = keys_open_dir(i, true, &dir, &why)) == TRUST_FOUND)
		found = keys_read(dir, path_last(i->keys), i->keys, true, &text, &len, &mtime, &why);
	if (found == TRUST_NO_ACCESS && geteuid() != 0) {
		doctor_say(d, FINDING_OK, "keys", NULL, "of %s: only root can read them, which is enough; to check them, run "
		    "gpuhelperctl keys show as root", i->url);
		return;
	}
	if (found != TRUST_FOUND) {
		doctor_say(d, FINDING_FAIL, "keys", fetch, "of %s: %s", i->url, why.text);
		return;
	}
	if (jwks_parse(text, len, mtime, &keys, &why) == -1) {
		doctor_say(d, FINDING_FAIL, "keys", fetch, "%s: %s", i->keys, why.text);
		return;
	}
	age = (int64_t)time(NULL) - mtime;
	if (i->keys_max_age != 0 && age > i->keys_max_age)
		doctor_say(d, FINDING_FAIL, "keys", fetch, "of %s: %lld h old, but valid for only %u h", i->url,
		    (long long)(age / 3600), i->keys_max_age / 3600);
	else if (age > 3600)
		doctor_say(d, FINDING_WARN, "keys", systemd_runs() ? "systemctl enable --now gpuhelper-keys.timer" : fetch,
		    "of %s: %lld min old: the issuer may begin to sign with a new key at any time", i->url, (long long)(age / 60));
	else
		doctor_say(d, FINDING_OK, "keys", NULL, "of %s: %zu, fetched %lld min ago", i->url, jwks_count(keys),
		    (long long)(age / 60));
}

void
doctor_keys(struct doctor *d)
{
	size_t i;

	if (d->settings.issuers == 0)
		doctor_say(d, FINDING_OK, "keys", NULL, "none are needed: gpuhelper.conf has no issuers, so no token is accepted");
	else if (http_library(&d->why) == -1)
		doctor_say(d, FINDING_WARN, "keys", NULL, "%s", d->why.text);
	for (i = 0; i < d->settings.issuers; i++)
		look_at_keys(d, &d->settings.issuer[i]);
}
