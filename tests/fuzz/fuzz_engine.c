/*
 * libFuzzer entry for helper/ask/{authzquery,authzcheck,enginequery,enginecheck,drivereditsread}.c: the possible answers
 * of a hostile gpuhelper-engine. The first byte selects the question. Every accepted answer has one spelling, and one that
 * passes the check has only what the checks of enginequery.h and driveredits.h promise.
 */
#include <stdlib.h>
#include <string.h>

#include "../../helper/ask/authzquery.h"
#include "../../helper/ask/driveredits.h"
#include "../../helper/ask/enginequery.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
lies_in(const char *path, const char *directory)
{
	const size_t n = strlen(directory);

	return strncmp(path, directory, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static void
must_be_clean(const char *path)
{
	must(path[0] == '/' && strstr(path, "/../") == NULL && strstr(path, "//") == NULL && strchr(path, '\n') == NULL);
	must(text_is_utf8(path, strlen(path)));
}

static void
must_have(const struct strlist *l, const char *word)
{
	size_t i;

	for (i = 0; i < l->n && strcmp(l->v[i], word) != 0; i++)
		continue;
	must(i < l->n);
}

/* Written from driveredits.h, not from the code. */
static void
must_be_mount(const struct edit_mount *m)
{
	size_t i;

	must_be_clean(m->source);
	must_be_clean(m->target);
	must(strcmp(m->target, "/") != 0 && !lies_in(m->target, "/proc") && !lies_in(m->target, "/sys") && !lies_in(m->target, "/dev"));
	must_have(&m->options, "bind");
	must_have(&m->options, "nosuid");
	must_have(&m->options, "nodev");
	for (i = 0; i < m->options.n; i++)
		must(strcmp(m->options.v[i], "suid") != 0 && strcmp(m->options.v[i], "dev") != 0 && strcmp(m->options.v[i], "exec") != 0 &&
		    strcmp(m->options.v[i], "rbind") != 0 && strcmp(m->options.v[i], "remount") != 0);
}

static void
must_be_texts(const struct strlist *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		must(text_is_utf8(l->v[i], strlen(l->v[i])));
}

static void
must_be_edits(const struct edits *e)
{
	size_t i;

	for (i = 0; i < e->mounts; i++)
		must_be_mount(&e->mount[i]);
	for (i = 0; i < e->hooks; i++) {
		must_be_clean(e->hook[i].path);
		must(text_is_utf8(e->hook[i].when, strlen(e->hook[i].when)));
		must_be_texts(&e->hook[i].args);
		must_be_texts(&e->hook[i].env);
	}
	for (i = 0; i < e->env.n; i++)
		must(strchr(e->env.v[i], '=') > e->env.v[i] && strncmp(e->env.v[i], "GPUHELPER_", 10) != 0);
	for (i = 0; i < e->masked.n; i++) {
		must_be_clean(e->masked.v[i]);
		must(strncmp(e->masked.v[i], "/proc/driver/nvidia/", 20) == 0);
	}
	must_be_texts(&e->env);
	must_be_texts(&e->notes);
}

static void
must_be_paths(const struct strlist *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		must_be_clean(l->v[i]);
}

static void
must_be_harmless(const struct engine_answer *a)
{
	const struct driver_edits *d = &a->driver;
	size_t i;

	for (i = 0; i < a->nodes; i++) {
		must_be_clean(a->node[i].path);
		must(strncmp(a->node[i].path, "/dev/", 5) == 0);
	}
	must(a->nodes <= DRIVER_NODES_MAX && d->mounted.n <= DRIVER_MOUNTS_MAX && d->run.n <= DRIVER_HOOKS_MAX);
	must_be_paths(&d->mounted);
	must_be_paths(&d->run);
	must_be_paths(&d->specs);
	must_be_texts(&a->env);
	must(text_is_utf8(a->line, strlen(a->line)));
	must(d->files == NULL || (text_is_utf8(d->files, strlen(d->files)) && text_is_utf8(d->process, strlen(d->process))));
}

/* As the wrapper takes it. */
static void
take_driver(const struct driver_edits *d)
{
	struct driver_edits one = { 0 }, two = { 0 };
	struct edits e, again;
	struct why why;

	if (driver_edits_decode(d->files, d->process, &e, &why) == 0) {
		must(e.mounts <= DRIVER_MOUNTS_MAX && e.hooks <= DRIVER_HOOKS_MAX && e.nodes == 0 && e.gids == 0);
		must_be_edits(&e);
		must(driver_edits_encode(&e, &one) && driver_edits_decode(one.files, one.process, &again, &why) == 0);
		must(driver_edits_encode(&again, &two) && strcmp(one.files, two.files) == 0 && strcmp(one.process, two.process) == 0);
		driver_edits_free(&one);
		driver_edits_free(&two);
		edits_free(&again);
	}
	edits_free(&e);
}

/* Written from authzquery.h, not from the code. */
static void
must_be_grant(const struct authz_answer *a, const struct settings *s)
{
	const struct gpu_grant *w;
	size_t i, k;

	must(a->policy.name[0] != '\0' && a->grant.wait <= s->max_wait && (!a->has_token || a->issuer < s->issuers));
	for (i = 0; i < a->policy.env.n; i++)
		must(strchr(a->policy.env.v[i], '=') > a->policy.env.v[i] && strncmp(a->policy.env.v[i], "GPUHELPER_", 10) != 0);
	must_be_texts(&a->policy.env);
	for (i = 0; i < a->grant.gpus; i++) {
		w = &a->grant.gpu[i];
		must(w->rule >= a->policy.gpu && w->rule < a->policy.gpu + a->policy.gpus);
		must(w->count > 0 && w->count <= w->n && w->count <= w->rule->count && w->n <= CANDIDATES_MAX);
		for (k = 0; k < w->n; k++)
			must(w->candidate[k] >= a->host->gpu && w->candidate[k] < a->host->gpu + a->host->gpus);
	}
	must(a->grant.folders == a->folders);
	for (i = 0; i < a->grant.folders; i++) {
		must_be_clean(a->grant.folder[i].path);
		must_be_clean(a->grant.folder[i].target);
		must(strcmp(a->grant.folder[i].path, "/") != 0 && !lies_in(a->grant.folder[i].path, "/proc"));
		must(!a->grant.folder[i].writable || a->grant.folder[i].rule->writable);
	}
}

static void
take_authz(const char *text, size_t size)
{
	const struct authz_query ask = { .who = { 1000, "ci", true, true }, .now = 1790000000 };
	struct issuer_setting issuers[2] = { { .url = NULL } };
	const struct settings settings = { .max_wait = 60, .issuer = issuers, .issuers = 2 };
	struct gpu gpus[4] = { { .place = 0 }, { .place = 1 }, { .vendor = GPU_AMD, .place = 2 }, { .place = 3, .unusable = "x" } };
	const struct inventory report = { .gpu = gpus, .gpus = 4 };
	struct authz_answer a = { .host = &report };
	struct lines in = { .at = text, .end = text + size }, out;
	struct buf b = { 0 };
	struct why why;

	authz_answer_lines(&in, &a);
	if (lines_finish(&in)) {
		out = (struct lines){ .out = &b };
		authz_answer_lines(&out, &a);
		must(lines_finish(&out) && b.len == size && memcmp(b.p, text, size) == 0);
		if (a.why.code == WHY_NONE && authz_answer_accept(&a, &ask, &settings, &why) == 0)
			must_be_grant(&a, &settings);
	}
	buf_free(&b);
	authz_answer_free(&a);
}

static void
take_answer(enum engine_verb verb, bool picks, const char *text, size_t size)
{
	struct engine_answer a = { .nodes = 0 };
	struct lines in = { .at = text, .end = text + size }, out;
	struct buf b = { 0 };
	struct why why;

	engine_answer_lines(&in, verb, picks, &a);
	if (lines_finish(&in) && a.why.code == WHY_NONE) {
		out = (struct lines){ .out = &b };
		engine_answer_lines(&out, verb, picks, &a);
		must(lines_finish(&out) && b.len == size && memcmp(b.p, text, size) == 0);
		if (engine_answer_check(&a, &why) == 0)
			must_be_harmless(&a);
		if (a.driver.files != NULL)
			take_driver(&a.driver);
	}
	buf_free(&b);
	engine_answer_free(&a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const enum engine_verb verb = (enum engine_verb)(size > 0 ? data[0] % (ENGINE_EDITS + 1) : 0);
	struct buf text = { 0 };

	/* the seeds may be of any version */
	buf_puts(&text, verb == ENGINE_AUTHZ ? "authz " GPUHELPER_VERSION " " : "answer " GPUHELPER_VERSION " ");
	if (size > 0)
		buf_add(&text, (const char *)data + 1, size - 1);
	must(!text.failed);
	if (verb == ENGINE_AUTHZ)
		take_authz(text.p, text.len);
	else
		take_answer(verb, data[0] >= 128, text.p, text.len);
	buf_free(&text);
	return 0;
}
