/*
 * gpuhelperctl keys fetch: downloads each issuer's keys by OpenID Connect Discovery 1.0.  Trusts gpuhelper.conf, and
 * TLS for the peer's name; nothing that the peer sends.  Needs the right to write the output and no other;
 * gpuhelper-keys.service gives it no other.
 */
#include "../../policy/tokenhash.h"
#include "keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/file.h"
#include "../../json/strictjson.h"
#include "http.h"

struct fetch {
	const struct options *options;
	const struct keys_conf *conf;
	int out;		/* --output-dir; -1: write each issuer's own file */
};

static void
cleanup_json(json_t **j)
{
	json_decref(*j);
}
#define autojson __attribute__((cleanup(cleanup_json)))

/* The URL of the discovery document.  Trailing slashes of the issuer's URL must be removed (section 4). */
static char *
discovery_url(const struct issuer_setting *s, struct why *why)
{
	size_t len = strlen(s->url);
	char *url = NULL;

	if (strpbrk(s->url, "?#") != NULL) {
		refuse(why, WHY_CONFIG, "an issuer's URL must not contain \"?\" or \"#\"");
		return NULL;
	}
	while (len > 0 && s->url[len - 1] == '/')
		len--;
	if (asprintf(&url, "%.*s/.well-known/openid-configuration", (int)len, s->url) == -1) {
		refuse_nomem(why);
		return NULL;
	}
	return url;
}

/* Gets the URL of the issuer's keys. */
static int
discover(const struct http *h, const struct issuer_setting *s, char **jwks_uri, struct why *why)
{
	autofree char *url = discovery_url(s, why), *text = NULL;
	autojson json_t *j = NULL;
	const char *issuer, *uri;
	size_t len;

	if (url == NULL || http_get(h, url, JWKS_MAX, &text, &len, why) == -1)
		return -1;
	if ((j = strictjson_object(text, len, why)) == NULL)
		return refuse_within(why, url);
	/* otherwise, on a host with several issuers, one could pass off its keys as another's (section 4.3) */
	if ((issuer = json_string_value(json_object_get(j, "issuer"))) == NULL || strcmp(issuer, s->url) != 0)
		return refuse(why, WHY_DATA, "%.200s: names another issuer, \"%.120s\"", url, issuer != NULL ? issuer : "");
	if ((uri = json_string_value(json_object_get(j, "jwks_uri"))) == NULL)
		return refuse(why, WHY_DATA, "%.200s: has no \"jwks_uri\"", url);
	if ((*jwks_uri = strdup(uri)) == NULL)
		return refuse_nomem(why);
	return 0;
}

/* Gets the keys from the issuer's own host, or from the one that gpuhelper.conf names for them. */
static int
get_keys(const struct http *h, const struct issuer_setting *s, const char *uri, char **text, size_t *len,
    struct why *why)
{
	autofree char *origin = NULL;
	struct http there;

	if (s->keys_host == NULL)
		return http_get(h, uri, JWKS_MAX, text, len, why);
	if (asprintf(&origin, "https://%s", s->keys_host) == -1) {
		origin = NULL;
		return refuse_nomem(why);
	}
	if (http_begin(&there, origin, h->cacert, why) == -1)
		return refuse_within(why, "keys_host");
	there.deadline = h->deadline;
	return http_get(&there, uri, JWKS_MAX, text, len, why);
}

static int
fetch_issuer(const struct fetch *f, const struct issuer_setting *s, struct why *why)
{
	autofree char *uri = NULL, *text = NULL, *shown = NULL;
	autojwks struct jwks *keys = NULL;
	const int64_t now = time(NULL);
	struct http h;
	size_t len;

	if (http_begin(&h, s->url, f->options->cacert, why) == -1 || discover(&h, s, &uri, why) == -1)
		return -1;
	if (get_keys(&h, s, uri, &text, &len, why) == -1)
		return refuse_within(why, "jwks_uri");
	if (jwks_parse(text, len, now, &keys, why) == -1)
		return refuse_within(why, uri);
	if (f->out == -1)
		return keys_place(f->conf, s, keys, text, len, why);
	if (asprintf(&shown, "%s/%s", f->options->output_dir, path_last(s->keys)) == -1) {
		shown = NULL;
		return refuse_nomem(why);
	}
	if (keys_write(f->out, path_last(s->keys), shown, text, len, now, why) == -1)
		return -1;
	keys_say(f->conf, s, keys, shown);
	return 0;
}

/*
 * Fetches the keys of every issuer, or of the named one.  Goes on after a failure; returns the status of the last
 * failure.
 */
static int
fetch(const struct fetch *f, struct why *why)
{
	const struct settings *settings = &f->conf->settings;
	const char *only = f->options->args > 0 ? f->options->arg[0] : NULL;
	int status = 0;
	size_t i;

	if (only != NULL && keys_issuer(f->conf, only, why) == NULL)
		return -1;
	if (settings->issuers == 0 && f->conf->told == NULL)
		say("gpuhelper.conf has no issuers: nothing to fetch");
	for (i = 0; i < settings->issuers; i++) {
		if (only != NULL && strcmp(settings->issuer[i].url, only) != 0)
			continue;
		if (fetch_issuer(f, &settings->issuer[i], why) == -1)
			status = keys_failed(f->conf, &settings->issuer[i], why);
	}
	return status;
}

int
keys_fetch(const struct options *o, const struct keys_conf *c, struct why *why)
{
	autoclose int out = -1;

	if (o->output_dir != NULL && (out = open(o->output_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, "%s: %s", o->output_dir, strerror(errno));
	if (http_library(why) == -1)
		return -1;
	return fetch(&(struct fetch){ .options = o, .conf = c, .out = out }, why);
}
