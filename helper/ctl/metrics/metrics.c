/*
 * gpuhelperctl metrics: prints metrics in Prometheus's text format.  If a part fails, its gpuhelper_up is 0 and its
 * metrics are missing.  The rest is printed still: without a page, the host would look as if it were off.
 *
 * The log, the helper's reply and the configuration contain what strangers and administrators wrote.  In
 * gpuhelper-metrics.service this runs without root's rights, on what root's «metrics gather» has packed.
 */
#include "metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../../base/cleanup.h"
#include "../../host/gpu/udev.h"
#include "../../host/own/etc.h"
#include "../../policy/conffault.h"
#include "../../policy/faultsrefuse.h"
#include "../../policy/policyset.h"
#include "../../policy/settingsdefault.h"
#include "../../read/conf/settingsread.h"
#include "../../read/parse.h"
#include "../../read/readquestion.h"
#include "../gpus/gpustate.h"
#include "../gpus/status.h"
#include "../when.h"

#define LOG GPUHELPER_LOGDIR "/audit.jsonl"

/* The page, gpuhelper_up of each part, and the exit status. */
struct page {
	struct read_query gathered;	/* what metrics_gather() packed */
	struct buf text, up;
	int status;
};

/* The gathered text of that name; NULL if there is none. */
static const struct read_file *
gathered(const struct page *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->gathered.files; i++)
		if (strcmp(p->gathered.file[i].name, name) == 0)
			return &p->gathered.file[i];
	return NULL;
}

/* Likewise; if it is missing, *why says why. */
static const struct read_file *
gathered_part(const struct page *p, const char *name, struct why *why)
{
	const struct read_file *f = gathered(p, name), *failed;
	char key[64], *reason;
	long code;

	if (f != NULL)
		return f;
	snprintf(key, sizeof(key), GATHER_FAILED "%s", name);
	refuse(why, WHY_IO, "%s: nothing was gathered", name);
	if ((failed = gathered(p, key)) != NULL) {
		code = strtol(failed->text, &reason, 10);
		refuse(why, code >= WHY_USAGE && code <= WHY_CONFIG ? (enum why_code)code : WHY_IO, "%s",
		    *reason == ' ' ? reason + 1 : reason);
	}
	return NULL;
}

static void
say_up(struct page *p, const char *part, const struct why *why)
{
	metric_add(&p->up, "gpuhelper_up", why == NULL, (const char *[]){ "part", part, NULL });
	if (why != NULL)
		p->status = complain(why->code, "%s", why->text);
}

static void
add_leases_of(struct page *p, const struct gpu_view *v, const struct gpu *g)
{
	json_t *holders = gpu_holders(v, g);
	char part[16];

	gpu_part(v->inv, g, part);
	metric_add(&p->text, "gpuhelper_gpu_leases", (int64_t)json_array_size(holders), (const char *[]){ "vendor",
	    gpu_vendor_name(g->vendor), "pci", g->pci, "part", part, "uuid", g->uuid, "model", g->model, NULL });
	json_decref(holders);
}

static void
add_gpu_metrics(struct page *p, const struct gpu_view *v)
{
	int64_t count[GPU_VENDORS][GPU_STATES] = { 0 };
	size_t i, k;

	metric_begin(&p->text, "gpuhelper_gpu_leases", "gauge", "Leases on each GPU.");
	for (i = 0; i < v->inv->gpus; i++) {
		add_leases_of(p, v, &v->inv->gpu[i]);
		count[v->inv->gpu[i].vendor][gpu_state_now(v, &v->inv->gpu[i])]++;
	}
	metric_begin(&p->text, "gpuhelper_gpus", "gauge", "GPUs and MIG instances by vendor and state.");
	for (i = 0; i < GPU_VENDORS; i++)
		for (k = 0; k < GPU_STATES; k++)
			metric_add(&p->text, "gpuhelper_gpus", count[i][k], (const char *[]){ "vendor",
			    gpu_vendor_name((enum gpu_vendor)i), "state", gpu_state_name((enum gpu_state)k), NULL });
}

/* Like gpu_view_drained(). */
static void
read_drained(const struct page *p, struct drained *out)
{
	const struct read_file *f = gathered(p, DRAINED_NAME);
	struct why why;

	if (f != NULL ? drained_decode(f->text, f->len, out, &why) == -1 :
	    gathered(p, GATHER_FAILED DRAINED_NAME) != NULL && gathered_part(p, DRAINED_NAME, &why) == NULL)
		(void)complain(why.code, "no container gets a GPU: %s", why.text);
}

/* The settings; the defaults if gpuhelper.conf is missing or broken.  False, with its faults, if it is broken. */
static bool
read_settings(const struct page *p, struct settings *s, struct faults *faults)
{
	const struct read_file *f = gathered(p, SETTINGS_FILE);

	if (f != NULL && settings_parse(f->text, f->len, s, faults))
		return true;
	settings_free(s);
	if (!settings_default(s))
		*s = (struct settings){ 0 };
	return f == NULL;
}

static void
gpus_part(struct page *p, const json_t *leases)
{
	autodrained struct drained drained = { 0 };
	autosettings struct settings settings = { 0 };
	autofaults struct faults ignored = { 0 };
	struct inventory inv = { 0 };
	const struct gpu_view v = { leases, &drained, &inv, &settings, gathered(p, GATHER_ALL) != NULL };
	struct why why;

	read_drained(p, &drained);
	(void)read_settings(p, &settings, &ignored);
	if (gpus_of_host(GPUS_ALL, &inv, &why) == 0) {
		add_gpu_metrics(p, &v);
		say_up(p, "gpus", NULL);
	} else
		say_up(p, "gpus", &why);
	inventory_free(&inv);
}

static void
add_leases(struct page *p, const json_t *leases)
{
	static const char *const states[] = { "held", "idle", "draining", "over", "giving-back", "promised", "taking",
		"passed-on" };
	const size_t n = sizeof(states) / sizeof(states[0]);
	const json_t *lease;
	int64_t count;
	size_t i, k;

	metric_begin(&p->text, "gpuhelper_leases", "gauge", "Leases by state.");
	for (k = 0; k < n; k++) {
		count = 0;
		json_array_foreach(leases, i, lease)
			count += strcmp(get_text(lease, "state"), states[k]) == 0;
		metric_add(&p->text, "gpuhelper_leases", count, (const char *[]){ "state", states[k], NULL });
	}
}

static void
add_waiter_metrics(struct page *p, const json_t *waiters)
{
	const int64_t now = time(NULL);
	int64_t since, longest = 0, tasks = 0;
	const json_t *w;
	size_t i;

	json_array_foreach(waiters, i, w) {
		tasks += json_object_get(w, "task") != NULL;
		if (when_read(get_text(w, "since"), &since) && now - since > longest)
			longest = now - since;
	}
	metric_begin(&p->text, "gpuhelper_waiters", "gauge", "Containers that wait for a GPU, or whose tasks do.");
	metric_add(&p->text, "gpuhelper_waiters", (int64_t)json_array_size(waiters), NULL);
	metric_begin(&p->text, "gpuhelper_waiting_tasks", "gauge", "Those whose tasks wait.");
	metric_add(&p->text, "gpuhelper_waiting_tasks", tasks, NULL);
	metric_begin(&p->text, "gpuhelper_longest_wait_seconds", "gauge",
	    "The longest time that a waiting container has waited.");
	metric_add(&p->text, "gpuhelper_longest_wait_seconds", longest, NULL);
}

static void
helper_part(struct page *p)
{
	struct why why;
	const struct read_file *reply = gathered_part(p, GATHER_STATUS, &why);
	json_t *status = reply != NULL ? helper_status_read(reply->text, reply->len, &why) : NULL;
	const json_t *leases = json_object_get(status, "leases");

	if (status != NULL) {
		add_leases(p, leases);
		add_waiter_metrics(p, json_object_get(status, "waiters"));
		/* without the leases, the GPUs' states are unknown */
		gpus_part(p, leases);
	}
	say_up(p, "helper", status == NULL ? &why : NULL);
	json_decref(status);
}

/*
 * The file's modification time is when the keys were fetched: «keys place» sets it.  Anyone may look at it in the
 * directory that we make.  Where another one is shut, there is no number: 0 would be an alarm.
 */
static void
add_keys_time(struct page *p, const struct issuer_setting *issuer)
{
	struct stat st = { 0 };

	if (stat(issuer->keys, &st) == -1 && errno != ENOENT && errno != ENOTDIR)
		p->status = complain(WHY_IO, "%s: %s: let others search its directory (chmod o+x)", issuer->keys, strerror(errno));
	else
		metric_add(&p->text, "gpuhelper_keys_fetched_timestamp_seconds", (int64_t)st.st_mtime,
		    (const char *[]){ "issuer", issuer->url, NULL });
}

static void
add_keys(struct page *p, const struct settings *s)
{
	size_t i;

	metric_begin(&p->text, "gpuhelper_keys_fetched_timestamp_seconds", "gauge",
	    "When the keys of each issuer were fetched; 0: no keys.");
	for (i = 0; i < s->issuers; i++)
		add_keys_time(p, &s->issuer[i]);
	metric_begin(&p->text, "gpuhelper_keys_max_age_seconds", "gauge",
	    "Tokens of the issuer are refused when its keys are older; 0: no limit.");
	for (i = 0; i < s->issuers; i++)
		metric_add(&p->text, "gpuhelper_keys_max_age_seconds", s->issuer[i].keys_max_age,
		    (const char *[]){ "issuer", s->issuer[i].url, NULL });
}

static void
add_specs(struct page *p)
{
	const struct read_file *f = p->gathered.file, *end = f + p->gathered.files;

	metric_begin(&p->text, "gpuhelper_cdi_spec_timestamp_seconds", "gauge", "When each CDI spec was last written.");
	for (; f < end; f++)
		if (text_starts(f->name, GATHER_SPEC))
			metric_add(&p->text, "gpuhelper_cdi_spec_timestamp_seconds", strtoll(f->text, NULL, 10),
			    (const char *[]){ "file", f->name + strlen(GATHER_SPEC), NULL });
}

/* 0, or -1 with *why. */
static int
parse_policies(const struct page *p, struct policy_set *out, struct why *why)
{
	const struct read_file *f = p->gathered.file, *end = f + p->gathered.files;

	*out = (struct policy_set){ .v = calloc(p->gathered.files + 1, sizeof(*out->v)) };
	for (; out->v != NULL && f < end; f++)
		if (text_starts(f->name, GATHER_POLICY) &&
		    !policy_entry_parse(f->name + strlen(GATHER_POLICY), f->text, f->len, &out->v[out->n++]))
			return refuse_nomem(why);
	return out->v != NULL ? 0 : refuse_nomem(why);
}

static void
add_policies(struct page *p, const struct policy_set *policies)
{
	int64_t broken = 0;
	size_t i;

	for (i = 0; i < policies->n; i++)
		broken += policies->v[i].broken != NULL;
	metric_begin(&p->text, "gpuhelper_policies", "gauge", "Policy files.");
	metric_add(&p->text, "gpuhelper_policies", (int64_t)policies->n, NULL);
	metric_begin(&p->text, "gpuhelper_policies_broken", "gauge",
	    "Policy files with an error: no policy after such a file grants anything.");
	metric_add(&p->text, "gpuhelper_policies_broken", broken, NULL);
}

static void
configuration_part(struct page *p)
{
	autopolicyset struct policy_set policies = { 0 };
	autosettings struct settings settings = { 0 };
	autofaults struct faults faults = { 0 };
	const struct read_file *dir;
	char shown[1200];
	struct why why;

	if ((dir = gathered_part(p, GATHER_CONFIG, &why)) == NULL) {
		say_up(p, "configuration", &why);
		return;
	}
	snprintf(shown, sizeof(shown), "%s/" SETTINGS_FILE, dir->text);
	if (!read_settings(p, &settings, &faults) && faults_refuse(&faults, shown, &why) == -1) {
		say_up(p, "configuration", &why);
		return;
	}
	if (parse_policies(p, &policies, &why) == -1) {
		say_up(p, "configuration", &why);
		return;
	}
	add_policies(p, &policies);
	add_keys(p, &settings);
	add_specs(p);
	say_up(p, "configuration", NULL);
}

static void
log_part(struct page *p)
{
	struct why why;
	const int ret = metrics_of_log(LOG, &p->text, &why);

	say_up(p, "audit-log", ret == -1 ? &why : NULL);
}

static void
write_up(struct page *p)
{
	metric_begin(&p->text, "gpuhelper_up", "gauge", "1 if the metrics of this part are available, else 0.");
	if (p->up.len > 0)
		buf_add(&p->text, p->up.p, p->up.len);
	metric_begin(&p->text, "gpuhelper_build_info", "gauge", "The version of gpuhelper.");
	metric_add(&p->text, "gpuhelper_build_info", 1, (const char *[]){ "version", GPUHELPER_VERSION, NULL });
	metric_begin(&p->text, "gpuhelper_metrics_timestamp_seconds", "gauge", "When these metrics were written.");
	metric_add(&p->text, "gpuhelper_metrics_timestamp_seconds", time(NULL), NULL);
}

/* Reads what «metrics gather» has written to the directory; the caller frees.  NULL with *why. */
static char *
read_gathered(const char *from, struct read_query *out, struct why *why)
{
	autofree char *path = NULL, *packed = NULL;
	char *kept;
	size_t len;

	if (asprintf(&path, "%s/" GATHERED, from) == -1) {
		path = NULL;
		refuse_nomem(why);
		return NULL;
	}
	if ((packed = ctl_read_input(path, READ_QUERY_MAX, &len, why)) == NULL)
		return NULL;
	if (!read_query_unpack(packed, len, out, why)) {
		refuse(why, WHY_DATA, "%s is damaged, or another version's: start gpuhelper-metrics.service again", path);
		return NULL;
	}
	kept = packed;
	packed = NULL;
	return kept;
}

/* Collects it now. */
static char *
gather_now(const struct options *o, struct read_query *out, struct why *why)
{
	size_t len;
	char *packed = metrics_gather(o, &len, why);

	if (packed == NULL || read_query_unpack(packed, len, out, why))
		return packed;
	free(packed);
	return NULL;
}

int
ctl_metrics(const struct options *o)
{
	struct page p = { .status = 0 };
	autofree char *packed = NULL;
	struct why why;

	packed = o->from != NULL ? read_gathered(o->from, &p.gathered, &why) : gather_now(o, &p.gathered, &why);
	if (packed == NULL)
		p.status = complain(why.code, "%s", why.text);
	helper_part(&p);
	configuration_part(&p);
	log_part(&p);
	write_up(&p);
	if (p.text.failed || p.up.failed)
		p.status = refuse_nomem(&why) == -1 ? give_up(o, &why) : 0;
	else if (ctl_write_output(o->output != NULL ? o->output : "-", false, p.text.p, p.text.len, &why) == -1)
		p.status = give_up(o, &why);
	buf_free(&p.text);
	buf_free(&p.up);
	free(p.gathered.file);
	return p.status;
}
