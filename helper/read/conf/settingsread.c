/* See settingsread.h. Only parses: must open nothing and decide nothing. */
#include "settingsread.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/path.h"
#include "../../policy/claims.h"
#include "../../policy/settingsdefault.h"
#include "../../policy/tokenhash.h"
#include "claimread.h"
#include "conf.h"
#include "variable.h"

#define KEYS_MAX_AGE (48 * 3600)	/* seconds: two days in which the timer has failed to fetch them */

static void
absolute(config_setting_t *s, const char *path, struct faults *f)
{
	struct why why;

	if (path_check(path, &why) == -1)
		fault_add(f, conf_line(s), false, "%s", why.text);
}

static void
read_runtime(config_setting_t *s, void *out, struct faults *f)
{
	struct settings *c = out;

	conf_string(s, &c->runtime, f);
	if (c->runtime != NULL)
		absolute(s, c->runtime, f);
}

static void
read_volumes(config_setting_t *s, void *out, struct faults *f)
{
	struct settings *c = out;
	size_t i;

	strlist_free(&c->volumes);
	conf_strings(s, &c->volumes, f);
	for (i = 0; i < c->volumes.n; i++) {
		absolute(s, c->volumes.v[i], f);
		if (strcmp(c->volumes.v[i], "/") == 0)
			fault_add(f, conf_line(s), false, "volumes: \"/\" would let a task take the host for its root");
	}
}

static void
read_privileged(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "deny", "hide-gpus", "allow", NULL };
	static const enum privileged values[] = { PRIVILEGED_DENY, PRIVILEGED_HIDE_GPUS, PRIVILEGED_ALLOW };
	struct settings *c = out;
	unsigned i = 0;

	conf_word(s, words, &i, f);
	c->privileged = values[i];
}

static void
read_driver_files(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "auto", "cdi", "none", "vendor-runtime", NULL };
	static const enum driver_files values[] = { DRIVER_FILES_AUTO, DRIVER_FILES_CDI, DRIVER_FILES_NONE,
		DRIVER_FILES_VENDOR_RUNTIME };
	unsigned i = 0;

	conf_word(s, words, &i, f);
	((struct settings *)out)->driver_files = values[i];
}

static void
read_cdi_hooks(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "deny", "allow", NULL };
	unsigned i = 0;

	conf_word(s, words, &i, f);
	((struct settings *)out)->cdi_hooks = i == 1;
}

static void
read_respect_allocation(config_setting_t *s, void *out, struct faults *f)
{
	conf_bool(s, &((struct settings *)out)->respect_allocation, f);
}

static void
read_door(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "auto", "socket", "setuid", NULL };
	static const enum door_setting values[] = { DOOR_AUTO, DOOR_BY_SOCKET, DOOR_BY_SETUID };
	unsigned i = 0;

	conf_word(s, words, &i, f);
	((struct settings *)out)->door = values[i];
}

static void
read_grant_unasked(config_setting_t *s, void *out, struct faults *f)
{
	conf_bool(s, &((struct settings *)out)->grant_unasked, f);
}

static void
read_allow_integrated(config_setting_t *s, void *out, struct faults *f)
{
	conf_bool(s, &((struct settings *)out)->allow_integrated, f);
}

static void
read_unenforced(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "deny", "allow", NULL };
	unsigned i = 0;

	conf_word(s, words, &i, f);
	((struct settings *)out)->unenforced = i == 1;
}

static void
read_max_wait(config_setting_t *s, void *out, struct faults *f)
{
	conf_number(s, 0, 86400, &((struct settings *)out)->max_wait, f);
}

static void
read_placeholder_init(config_setting_t *s, void *out, struct faults *f)
{
	struct settings *c = out;
	size_t i;

	strlist_free(&c->placeholder_init);
	conf_strings(s, &c->placeholder_init, f);
	for (i = 0; i < c->placeholder_init.n; i++)
		absolute(s, c->placeholder_init.v[i], f);
}

static void
read_idle(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "give-back", "stop", "keep", NULL };
	static const enum idle_setting values[] = { IDLE_GIVE_BACK, IDLE_STOP, IDLE_KEEP };
	unsigned i = 0;

	conf_word(s, words, &i, f);
	((struct settings *)out)->idle = values[i];
}

/* Was the time for a container's first exec. A task takes its GPUs by itself now, so nothing needs that time. */
static void
read_first_exec(config_setting_t *s, void *out, struct faults *f)
{
	unsigned unused;

	(void)out;
	conf_number(s, 1, 86400, &unused, f);
}

static void
read_task_execs(config_setting_t *s, void *out, struct faults *f)
{
	struct settings *c = out;

	strlist_free(&c->task_execs);
	conf_strings(s, &c->task_execs, f);
}

/* Reads "keep" or a number of seconds. */
static void
read_left_behind(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "keep", NULL };
	struct settings *c = out;
	unsigned i = 0;

	if (config_setting_type(s) == CONFIG_TYPE_STRING) {
		conf_word(s, words, &i, f);
		c->left_behind = LEFT_BEHIND_KEEP;
	} else
		conf_number(s, 0, 86400, &c->left_behind, f);
}

static void
read_audit_plain(config_setting_t *s, void *out, struct faults *f)
{
	conf_bool(s, &((struct settings *)out)->audit_plain, f);
}

static void
read_audit(config_setting_t *s, void *out, struct faults *f)
{
	static const struct conf_key keys[] = { { "plain", read_audit_plain }, { NULL, NULL } };

	conf_group(s, keys, out, f);
}

static void
read_plain_label(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "keep", "container_t", NULL };
	unsigned i = 0;

	conf_word(s, words, &i, f);
	((struct settings *)out)->plain_container = i == 1;
}

static void
read_selinux_settings(config_setting_t *s, void *out, struct faults *f)
{
	static const struct conf_key keys[] = { { "plain", read_plain_label }, { NULL, NULL } };

	conf_group(s, keys, out, f);
}

static void
read_url(config_setting_t *s, void *out, struct faults *f)
{
	struct issuer_setting *i = out;

	conf_string(s, &i->url, f);
	if (i->url != NULL && (!text_starts(i->url, "https://") || strlen(i->url) == strlen("https://")))
		fault_add(f, conf_line(s), false, "url must be the issuer's own, as in its tokens: \"https://HOST\"");
}

static void
read_issuer_audience(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct issuer_setting *)out)->audience, f);
}

static void
read_issuer_keys(config_setting_t *s, void *out, struct faults *f)
{
	struct issuer_setting *i = out;

	conf_string(s, &i->keys, f);
	if (i->keys != NULL)
		absolute(s, i->keys, f);
}

/* The characters of a host's name, an IPv6 address in brackets, and a port: nothing that could begin another part. */
static void
read_keys_host(config_setting_t *s, void *out, struct faults *f)
{
	struct issuer_setting *i = out;

	conf_string(s, &i->keys_host, f);
	if (i->keys_host != NULL && i->keys_host[strspn(i->keys_host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789.-:[]")] != '\0')
		fault_add(f, conf_line(s), false, "keys_host must be \"HOST\" or \"HOST:PORT\"; \"%.80s\" is not", i->keys_host);
}

static void
read_max_age(config_setting_t *s, void *out, struct faults *f)
{
	conf_number(s, 1, 86400, &((struct issuer_setting *)out)->max_age, f);
}

static void
read_keys_max_age(config_setting_t *s, void *out, struct faults *f)
{
	conf_number(s, 0, 366 * 86400, &((struct issuer_setting *)out)->keys_max_age, f);
}

static void
read_token_reuse(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "deny", "allow", NULL };
	unsigned i = 0;

	conf_word(s, words, &i, f);
	((struct issuer_setting *)out)->token_reuse = i == 1;
}

static void
read_team_claim(config_setting_t *s, void *out, struct faults *f)
{
	claim_name_read(s, &((struct issuer_setting *)out)->claims.team, f);
}

static void
read_pipeline_claim(config_setting_t *s, void *out, struct faults *f)
{
	claim_name_read(s, &((struct issuer_setting *)out)->claims.pipeline, f);
}

static void
read_job_claim(config_setting_t *s, void *out, struct faults *f)
{
	claim_name_read(s, &((struct issuer_setting *)out)->claims.job, f);
}

static void
read_require(config_setting_t *s, void *out, struct faults *f)
{
	claims_read(s, false, &((struct issuer_setting *)out)->claims.require, f);
}

static void
read_reuse_by(config_setting_t *s, void *out, struct faults *f)
{
	claim_name_read(s, &((struct issuer_setting *)out)->claims.reuse_by, f);
}

static void
read_token_bytes(config_setting_t *s, void *out, struct faults *f)
{
	conf_number(s, 1024, TOKEN_MAX, &((struct issuer_setting *)out)->claims.bytes, f);
}

static void
read_token_variable(config_setting_t *s, void *out, struct faults *f)
{
	struct issuer_setting *i = out;

	conf_string(s, &i->variable, f);
	if (i->variable != NULL && !variable_may_have_token(i->variable))
		fault_add(f, conf_line(s), false, "token_variable must be the name of a variable that has a token and nothing else; "
		    "\"%.80s\" is not", i->variable);
}

static const struct conf_key issuer_keys[] = {
	{ "url", read_url },
	{ "audience", read_issuer_audience },
	{ "keys", read_issuer_keys },
	{ "keys_host", read_keys_host },
	{ "max_age", read_max_age },
	{ "keys_max_age", read_keys_max_age },
	{ "token_reuse", read_token_reuse },
	{ "team", read_team_claim },
	{ "pipeline", read_pipeline_claim },
	{ "job", read_job_claim },
	{ "require", read_require },
	{ "reuse_by", read_reuse_by },
	{ "token_bytes", read_token_bytes },
	{ "token_variable", read_token_variable },
	{ NULL, NULL },
};

static void
check_issuer(const struct settings *c, const struct issuer_setting *i, uint32_t there, struct faults *f)
{
	const struct issuer_setting *other;

	if (!conf_there(issuer_keys, there, "url") || !conf_there(issuer_keys, there, "audience") ||
	    !conf_there(issuer_keys, there, "keys"))
		fault_add(f, i->line, false, "an issuers entry needs url, audience and keys");
	if (i->token_reuse && i->claims.reuse_by != NULL)
		fault_add(f, i->line, false, "token_reuse = \"allow\" lets any container use a token again: leave it out, or "
		    "reuse_by");
	if (i->url == NULL)
		return;
	for (other = c->issuer; other < i; other++)
		if (other->url != NULL && strcmp(other->url, i->url) == 0)
			fault_add(f, i->line, false, "issuer %s appears twice", i->url);
}

static void
read_issuers(config_setting_t *s, void *out, struct faults *f)
{
	struct settings *c = out;
	struct issuer_setting *i;
	config_setting_t *e;
	int k, n = config_setting_length(s);

	if (!conf_groups(s, ISSUERS_MAX, f))
		return;
	if ((c->issuer = calloc((size_t)n + 1, sizeof(*c->issuer))) == NULL) {
		fault_add(f, conf_line(s), false, "out of memory");
		return;
	}
	for (k = 0; k < n; k++) {
		e = config_setting_get_elem(s, (unsigned)k);
		i = &c->issuer[c->issuers++];
		*i = (struct issuer_setting){ .line = conf_line(e), .max_age = TOKEN_MAX_AGE,
			.keys_max_age = KEYS_MAX_AGE, .claims = { .bytes = TOKEN_BYTES } };
		check_issuer(c, i, conf_group(e, issuer_keys, i, f), f);
	}
	c->several_issuers = c->issuers > 1;
}

static void
read_team_shares(config_setting_t *s, void *out, struct faults *f)
{
	struct settings *c = out;
	int i, n = config_setting_length(s);

	if (config_setting_type(s) != CONFIG_TYPE_GROUP || n > TEAM_SHARES_MAX) {
		fault_add(f, conf_line(s), false, "team_shares must be a group of at most %d: { TEAM = PARTS; ... }",
		    TEAM_SHARES_MAX);
		return;
	}
	strlist_free(&c->team_shares);
	for (i = 0; i < n; i++) {
		config_setting_t *e = config_setting_get_elem(s, (unsigned)i);
		autobuf struct buf b = { 0 };
		unsigned parts = 1;

		conf_number(e, 1, TEAM_SHARE_MAX, &parts, f);
		buf_printf(&b, "%s=%u", config_setting_name(e), parts);
		if (b.failed || !strlist_add(&c->team_shares, b.p, SIZE_MAX))
			fault_add(f, conf_line(e), false, "out of memory");
	}
}

static const struct conf_key keys[] = {
	{ "runtime", read_runtime },
	{ "volumes", read_volumes },
	{ "privileged", read_privileged },
	{ "driver_files", read_driver_files },
	{ "cdi_hooks", read_cdi_hooks },
	{ "respect_allocation", read_respect_allocation },
	{ "door", read_door },
	{ "grant_unasked", read_grant_unasked },
	{ "allow_integrated", read_allow_integrated },
	{ "unenforced", read_unenforced },
	{ "max_wait", read_max_wait },
	{ "placeholder_init", read_placeholder_init },
	{ "idle", read_idle },
	{ "first_exec", read_first_exec },
	{ "task_execs", read_task_execs },
	{ "left_behind", read_left_behind },
	{ "audit", read_audit },
	{ "selinux", read_selinux_settings },
	{ "issuers", read_issuers },
	{ "team_shares", read_team_shares },
	{ NULL, NULL },
};

bool
settings_parse(const char *text, size_t len, struct settings *s, struct faults *f)
{
	config_t cfg;

	if (!settings_default(s)) {
		fault_add(f, 0, false, "out of memory");
		return false;
	}
	if (conf_parse(&cfg, text, len, f))
		conf_group(config_root_setting(&cfg), keys, s, f);
	config_destroy(&cfg);
	return f->errors == 0;
}

char *
settings_salvage_runtime(const char *text)
{
	const char *line, *p, *end;
	struct why why;
	char *path;

	for (line = text; line != NULL; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
		p = line + strspn(line, " \t");
		if (strncmp(p, "runtime", 7) != 0)
			continue;
		p += 7 + strspn(p + 7, " \t");
		if (*p != '=' && *p != ':')
			continue;
		p += 1 + strspn(p + 1, " \t");
		if (*p++ != '"' || (end = strpbrk(p, "\"\\\n")) == NULL || *end != '"')
			continue;
		if ((path = strndup(p, (size_t)(end - p))) == NULL || path_check(path, &why) == 0)
			return path;
		free(path);
	}
	return NULL;
}
