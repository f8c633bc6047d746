/*
 * gpuhelperctl metrics: prints metrics in Prometheus's text format.  If a part fails, its gpuhelper_up is 0 and its
 * metrics are missing.  The rest is printed still: without a page, the host would look as if it were off.
 */
#include "metrics.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../host/gpus.h"
#include "../pure/cleanup.h"
#include "configload.h"
#include "devices.h"
#include "gpustate.h"
#include "when.h"

#define LOG GPUHELPER_LOGDIR "/audit.jsonl"

/* The page, gpuhelper_up of each part, and the exit status. */
struct page {
	const struct options *options;
	struct buf text, up;
	int status;
};

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

static void
gpus_part(struct page *p, const json_t *leases)
{
	autodrained struct drained drained = { 0 };
	autosettings struct settings settings = { 0 };
	struct inventory inv = { 0 };
	const struct gpu_view v = { leases, &drained, &inv, &settings };
	struct why why;

	gpu_view_drained(&drained);
	if (devices_settings(p->options, &settings, &why) == 0 && gpus_of_host(GPUS_ALL, &inv, &why) == 0) {
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
	json_t *status = helper_status(&why);
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

/* The file's modification time is when the keys were fetched: «keys place» sets it. */
static void
add_keys(struct page *p, const struct settings *s)
{
	struct stat st;
	size_t i;

	metric_begin(&p->text, "gpuhelper_keys_fetched_timestamp_seconds", "gauge",
	    "When the keys of each issuer were fetched; 0: no keys.");
	for (i = 0; i < s->issuers; i++)
		metric_add(&p->text, "gpuhelper_keys_fetched_timestamp_seconds", stat(s->issuer[i].keys, &st) == 0 ?
		    (int64_t)st.st_mtime : 0, (const char *[]){ "issuer", s->issuer[i].url, NULL });
	metric_begin(&p->text, "gpuhelper_keys_max_age_seconds", "gauge",
	    "Tokens of the issuer are refused when its keys are older; 0: no limit.");
	for (i = 0; i < s->issuers; i++)
		metric_add(&p->text, "gpuhelper_keys_max_age_seconds", s->issuer[i].keys_max_age,
		    (const char *[]){ "issuer", s->issuer[i].url, NULL });
}

/* The age of each spec shows whether it is older than the last upgrade of the driver, whose old files it would name. */
static void
add_specs(struct page *p)
{
	glob_t files = { 0 };
	struct stat st;
	size_t i;

	metric_begin(&p->text, "gpuhelper_cdi_spec_timestamp_seconds", "gauge", "When each CDI spec was last written.");
	(void)glob("/etc/cdi/*.json", 0, NULL, &files);
	(void)glob("/etc/cdi/*.yaml", GLOB_APPEND, NULL, &files);
	(void)glob("/run/cdi/*.json", GLOB_APPEND, NULL, &files);
	(void)glob("/run/cdi/*.yaml", GLOB_APPEND, NULL, &files);
	for (i = 0; i < files.gl_pathc; i++)
		if (stat(files.gl_pathv[i], &st) == 0)
			metric_add(&p->text, "gpuhelper_cdi_spec_timestamp_seconds", st.st_mtime,
			    (const char *[]){ "file", files.gl_pathv[i], NULL });
	globfree(&files);
}

static void
policies_part(struct page *p)
{
	autoconfig struct config c;
	int64_t broken = 0;
	struct why why;
	size_t i;

	if (config_load(p->options, &c, &why) == -1) {
		say_up(p, "configuration", &why);
		return;
	}
	for (i = 0; i < c.policies.n; i++)
		broken += c.policies.v[i].broken != NULL;
	metric_begin(&p->text, "gpuhelper_policies", "gauge", "Policy files.");
	metric_add(&p->text, "gpuhelper_policies", (int64_t)c.policies.n, NULL);
	metric_begin(&p->text, "gpuhelper_policies_broken", "gauge",
	    "Policy files with an error: no policy after such a file grants anything.");
	metric_add(&p->text, "gpuhelper_policies_broken", broken, NULL);
	add_keys(p, &c.settings);
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

int
ctl_metrics(const struct options *o)
{
	struct page p = { .options = o };
	struct why why;

	helper_part(&p);
	policies_part(&p);
	log_part(&p);
	write_up(&p);
	if (p.text.failed || p.up.failed)
		p.status = refuse_nomem(&why) == -1 ? give_up(o, &why) : 0;
	else if (o->output == NULL)
		fwrite(p.text.p, 1, p.text.len, stdout);
	else if (ctl_write_output(o->output, false, p.text.p, p.text.len, &why) == -1)
		p.status = give_up(o, &why);
	buf_free(&p.text);
	buf_free(&p.up);
	return p.status;
}
