/*
 * gpuhelperctl metrics gather: root's first step of gpuhelper-metrics.service.  Collects what only root can see, as
 * bytes, for the step that parses it without root's rights.  Must parse nothing.
 *
 * The form is that of a question to gpuhelper-read (ask/readquery.h): texts with names.  A text whose name begins with
 * GATHER_FAILED says why a part is missing.
 */
#include "metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../ask/readquery.h"
#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/gpu/drainedread.h"
#include "../../host/own/etc.h"
#include "../../host/trust.h"
#include "../gpus/status.h"

#define DRAINED_TRIES 20	/* reads while the list is being replaced */

struct gathering {
	struct read_file *v;	/* owns its names and texts */
	size_t n;
	bool failed;		/* memory was short */
};

/* Adds a text, which the gathering frees; NULL: memory is short. */
static void
add_text(struct gathering *g, char *text, size_t len, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void
add_text(struct gathering *g, char *text, size_t len, const char *fmt, ...)
{
	struct read_file *more = reallocarray(g->v, g->n + 1, sizeof(*more));
	char *name;
	va_list ap;

	va_start(ap, fmt);
	name = format_text(fmt, ap);
	va_end(ap);
	if (more != NULL)
		g->v = more;
	if (more == NULL || name == NULL || text == NULL) {
		g->failed = true;
		free(name);
		free(text);
		return;
	}
	g->v[g->n++] = (struct read_file){ .name = name, .text = text, .len = len };
}

static void
add_copy(struct gathering *g, const char *name, const char *text)
{
	add_text(g, strdup(text), strlen(text), "%s", name);
}

static void
add_failure(struct gathering *g, const char *part, const struct why *why)
{
	char text[sizeof(why->text) + 16];
	const int n = snprintf(text, sizeof(text), "%d %s", (int)why->code, why->text);

	add_text(g, strdup(text), n > 0 && (size_t)n < sizeof(text) ? (size_t)n : strlen(text), GATHER_FAILED "%s", part);
}

static void
gather_status(struct gathering *g)
{
	struct why why;
	size_t len;
	char *text = helper_status_unread(&len, &why);

	if (text != NULL)
		add_text(g, text, len, GATHER_STATUS);
	else
		add_failure(g, GATHER_STATUS, &why);
	if (geteuid() == 0)
		add_copy(g, GATHER_ALL, "");
}

/* Only root can read the list, as for «status». */
static void
gather_drained(struct gathering *g)
{
	enum trust_found found = TRUST_REPLACED;
	autoclose int dir = -1;
	char *text = NULL;
	struct why why;
	size_t len;
	int tries;

	if (geteuid() != 0)
		return;
	if (trust_pin_dir(GPUHELPER_STATEDIR, true, &dir, &why) == TRUST_ABSENT)
		return;
	for (tries = 0; dir != -1 && found == TRUST_REPLACED && tries < DRAINED_TRIES; tries++)
		found = trust_find_text(dir, DRAINED_NAME, DRAINED_LIST, DRAINED_FILE_MAX, true, &text, &len, &why);
	if (found == TRUST_FOUND)
		add_text(g, text, len, DRAINED_NAME);
	else if (found != TRUST_ABSENT)
		add_failure(g, DRAINED_NAME, &why);
}

static int
gather_files(struct gathering *g, const struct options *o, struct why *why)
{
	autopolicyfiles struct policy_files files = { 0 };
	autofree char *dir = NULL;
	char *text = NULL;
	bool strict;
	size_t i, len;

	if (ctl_config_dir(o->config_dir, &dir, &strict, why) == -1 ||
	    settings_text(dir, strict, &text, &len, why) == -1)
		return -1;
	if (text != NULL)
		add_text(g, text, len, SETTINGS_FILE);
	if (policy_files_load(dir, strict, &files, why) == -1)
		return -1;
	for (i = 0; i < files.n; i++) {
		add_text(g, files.v[i].text, files.v[i].len, GATHER_POLICY "%s", files.v[i].name);
		files.v[i].text = NULL;
	}
	/* last: it says that the configuration is whole */
	add_copy(g, GATHER_CONFIG, dir);
	return 0;
}

/* A spec's time shows whether it is older than the last upgrade of the driver, whose old files it would name. */
static void
gather_specs(struct gathering *g)
{
	glob_t files = { 0 };
	struct stat st;
	char when[32];
	size_t i;

	(void)glob("/etc/cdi/*.json", 0, NULL, &files);
	(void)glob("/etc/cdi/*.yaml", GLOB_APPEND, NULL, &files);
	(void)glob("/run/cdi/*.json", GLOB_APPEND, NULL, &files);
	(void)glob("/run/cdi/*.yaml", GLOB_APPEND, NULL, &files);
	for (i = 0; i < files.gl_pathc; i++)
		if (stat(files.gl_pathv[i], &st) == 0) {
			snprintf(when, sizeof(when), "%lld", (long long)st.st_mtime);
			add_text(g, strdup(when), strlen(when), GATHER_SPEC "%s", files.gl_pathv[i]);
		}
	globfree(&files);
}

char *
metrics_gather(const struct options *o, size_t *len, struct why *why)
{
	struct gathering g = { 0 };
	char *packed = NULL;
	struct why wrong;
	size_t i;

	gather_status(&g);
	gather_drained(&g);
	if (gather_files(&g, o, &wrong) == -1)
		add_failure(&g, GATHER_CONFIG, &wrong);
	gather_specs(&g);
	if (!g.failed)
		packed = read_query_pack(&(struct read_query){ .verb = READ_POLICIES, .file = g.v, .files = g.n }, len);
	for (i = 0; i < g.n; i++) {
		free((char *)(uintptr_t)g.v[i].name);
		free((char *)(uintptr_t)g.v[i].text);
	}
	free(g.v);
	if (packed == NULL)
		refuse_nomem(why);
	return packed;
}

int
ctl_metrics_gather(const struct options *o)
{
	autofree char *packed = NULL;
	autoclose int dir = -1;
	struct why why;
	size_t len;

	if (geteuid() != 0)
		return misuse(o, "metrics gather: only root can see all leases: run it as root");
	if ((dir = open(o->output_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1) {
		refuse(&why, WHY_IO, "%s: %s", o->output_dir, strerror(errno));
		return give_up(o, &why);
	}
	if ((packed = metrics_gather(o, &len, &why)) == NULL ||
	    ctl_hand_over(dir, GATHERED, o->output_dir, packed, len, &why) == -1)
		return give_up(o, &why);
	return 0;
}
