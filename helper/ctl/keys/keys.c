/*
 * gpuhelperctl keys: manages the public keys that verify tokens.  Runs with its caller's rights; only root can install
 * keys that the helper trusts.  Must never install keys that jwks_parse() rejects, nor one issuer's keys as another's.
 */
#include "keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "../../policy/tokenhash.h"
#include "../../read/load.h"

/* gpuhelper-keys.service passes all key files through one directory, so their names must differ. */
static int
check_names(const struct keys_conf *c, struct why *why)
{
	const struct issuer_setting *a, *b, *end = c->settings.issuer + c->settings.issuers;

	for (a = c->settings.issuer; a < end; a++)
		for (b = c->settings.issuer; b < a; b++)
			if (strcmp(path_last(a->keys), path_last(b->keys)) == 0)
				return refuse(why, WHY_CONFIG, "gpuhelper.conf:%u: %.120s and %.120s both keep their keys "
				    "in a file named %.60s: use different names", a->line, b->url, a->url,
				    path_last(a->keys));
	return 0;
}

static int
refuse_import(const char *name, struct why *why)
{
	refuse_within(why, strcmp(name, "-") == 0 ? "standard input" : name);
	why->code = WHY_DATA;
	return -1;
}

/* keys import */
static int
keys_import(const struct options *o, const struct keys_conf *c, struct why *why)
{
	autofree char *text = NULL;
	autojwks struct jwks *keys = NULL;
	const struct issuer_setting *s;
	const int64_t now = time(NULL);
	size_t len;

	if ((s = keys_issuer(c, o->issuer, why)) == NULL || (text = ctl_read_input(o->arg[0], JWKS_MAX, &len, why)) == NULL)
		return -1;
	if (jwks_parse(text, len, now, &keys, why) == -1)
		return refuse_import(o->arg[0], why);
	return keys_place(c, s, keys, text, len, why);
}

/* Installs the issuer's downloaded keys.  1: there are none.  -1 with *why. */
static int
place_issuer(const char *from, int dir, const struct issuer_setting *s, const struct keys_conf *c, struct why *why)
{
	const char *name = path_last(s->keys);
	const int64_t now = time(NULL);
	autofree char *text = NULL, *shown = NULL;
	autojwks struct jwks *keys = NULL;
	enum trust_found found;
	int64_t fetched;
	size_t len;

	if (asprintf(&shown, "%s/%s", from, name) == -1) {
		shown = NULL;
		return refuse_nomem(why);
	}
	/* not strict: the unprivileged downloader owns the file, which may contain anything */
	if ((found = keys_read(dir, name, shown, false, &text, &len, &fetched, why)) != TRUST_FOUND)
		return found == TRUST_ABSENT ? 1 : -1;
	fetched = fetched < now ? fetched : now;
	if (jwks_parse(text, len, fetched, &keys, why) == -1)
		return refuse_within(why, shown);
	return keys_place(c, s, keys, text, len, why);
}

/* keys place: the second step of gpuhelper-keys.service, which runs as root. */
static int
keys_place_all(const struct options *o, const struct keys_conf *c, struct why *why)
{
	autoclose int dir = open(o->from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int status = 0;
	size_t i;

	if (dir == -1)
		return refuse(why, WHY_IO, "%s: %s", o->from, strerror(errno));
	for (i = 0; i < c->settings.issuers; i++)
		if (place_issuer(o->from, dir, &c->settings.issuer[i], c, why) == -1)
			status = keys_failed(c, &c->settings.issuer[i], why);
	return status;
}

/* keys show */

static void
say_ago(int64_t s, char out[32])
{
	if (s < 120)
		snprintf(out, 32, "%lld s", (long long)(s > 0 ? s : 0));
	else if (s < 7200)
		snprintf(out, 32, "%lld min", (long long)(s / 60));
	else if (s < 172800)
		snprintf(out, 32, "%lld h", (long long)(s / 3600));
	else
		snprintf(out, 32, "%lld d", (long long)(s / 86400));
}

static int
load_keys(const struct issuer_setting *s, bool strict, struct jwks **keys, struct why *why)
{
	autoclose int dir = -1;
	autofree char *text = NULL;
	enum trust_found found;
	int64_t mtime;
	size_t len;

	if (keys_open_dir(s, strict, &dir, why) != TRUST_FOUND)
		return -1;
	if ((found = keys_read(dir, path_last(s->keys), s->keys, strict, &text, &len, &mtime, why)) != TRUST_FOUND)
		return found == TRUST_ABSENT ? refuse(why, WHY_CONFIG, "%s does not exist yet: run gpuhelperctl keys fetch",
		    s->keys) : -1;
	return jwks_parse(text, len, mtime, keys, why) == -1 ? refuse_within(why, s->keys) : 0;
}

static void
say_key(const struct jwk *k)
{
	const char *kid = jwk_kid(k) != NULL ? jwk_kid(k) : "(without kid)";

	if (jwk_unusable(k) != NULL)
		say("  %s: unusable: %s", kid, jwk_unusable(k));
	else
		say("  %s: %s, %u bits", kid, jwk_alg(k), jwk_bits(k));
}

/* Fills j and, unless quiet, prints the keys; returns the exit status. */
static int
show_keys(const struct issuer_setting *s, const struct jwks *keys, bool quiet, json_t *j)
{
	const int64_t age = time(NULL) - jwks_fetched(keys);
	const bool stale = s->keys_max_age > 0 && age > s->keys_max_age;
	char ago[32], when[32];
	size_t i;

	say_ago(age, ago);
	text_time(jwks_fetched(keys), when);
	put_text(j, "fetched", when);
	json_object_set_new(j, "age", json_integer(age));
	json_object_set_new(j, "stale", json_boolean(stale));
	json_object_set_new(j, "keys", keys_json(keys));
	if (!quiet)
		say("%s: %s, fetched %s ago (%s)", s->url, s->keys, ago, when);
	for (i = 0; i < jwks_count(keys) && !quiet; i++)
		say_key(jwks_at(keys, i));
	say_ago(s->keys_max_age, ago);
	if (stale && !quiet)
		say("  warning: the keys are older than keys_max_age (%s): tokens of this issuer are refused until they are "
		    "fetched again", ago);
	return stale ? WHY_CONFIG : 0;
}

static int
keys_show(const struct options *o, const struct keys_conf *c, struct why *unused)
{
	int status = 0, here;
	size_t i;

	(void)unused;
	if (c->settings.issuers == 0 && !o->json)
		say("gpuhelper.conf has no issuers");
	for (i = 0; i < c->settings.issuers; i++) {
		const struct issuer_setting *s = &c->settings.issuer[i];
		autojwks struct jwks *keys = NULL;
		struct why why;
		json_t *j;

		j = json_object();
		put_text(j, "issuer", s->url);
		put_text(j, "audience", s->audience);
		put_text(j, "file", s->keys);
		json_object_set_new(j, "keys_max_age", json_integer(s->keys_max_age));
		if (load_keys(s, c->strict, &keys, &why) == 0) {
			here = show_keys(s, keys, o->json, j);
		} else {
			/* any fault of the file but an I/O error is a fault of the configuration */
			why.code = why.code == WHY_IO ? WHY_IO : WHY_CONFIG;
			put_text(j, "error", why.text);
			json_object_set_new(j, "code", json_integer(why.code));
			here = o->json ? (int)why.code : complain(why.code, "%s: %s", s->url, why.text);
		}
		status = here != 0 ? here : status;
		json_array_append_new(c->told, j);
	}
	return status;
}

typedef int keys_verb(const struct options *o, const struct keys_conf *c, struct why *why);

/* Loads gpuhelper.conf and runs the subcommand.  writes: it writes key files. */
static int
with_conf(const struct options *o, keys_verb *run, bool writes)
{
	struct keys_conf c = { .told = o->json ? json_array() : NULL };
	autofree char *dir = NULL;
	int status = -1;
	struct why why;

	if (ctl_config_dir(o->config_dir, &dir, &c.strict, &why) == 0 &&
	    settings_load(dir, c.strict, &c.settings, NULL, NULL, &why) == 0 && (!writes || check_names(&c, &why) == 0))
		status = run(o, &c, &why);
	if (status == -1)
		status = give_up(o, &why);
	else if (c.told != NULL)
		put_out(json_pack("{s:O}", "issuers", c.told));
	json_decref(c.told);
	settings_free(&c.settings);
	return status;
}

int
ctl_keys_fetch(const struct options *o)
{
	return with_conf(o, keys_fetch, true);
}

int
ctl_keys_show(const struct options *o)
{
	return with_conf(o, keys_show, false);
}

int
ctl_keys_import(const struct options *o)
{
	return with_conf(o, keys_import, true);
}

int
ctl_keys_place(const struct options *o)
{
	return with_conf(o, keys_place_all, true);
}
