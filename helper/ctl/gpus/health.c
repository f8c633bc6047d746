/*
 * gpuhelperctl health: finds broken GPUs by three signs that need no vendor's tools: whether a GPU answers on the PCI
 * bus, its fatal PCIe errors (AER), and the kernel's log.  With --mark, which root's timer runs, no further container
 * gets a broken GPU until a reboot or undrain.  Log records and errors that were seen are saved, so that a GPU which
 * was returned to service is marked again only for a new fault.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/lines.h"
#include "../../host/file.h"
#include "../../host/gpu/udev.h"
#include "../../host/process/process.h"
#include "../ctl.h"
#include "drainlist.h"
#include "gpustate.h"
#include "healthlog.h"

#define STATE "health"
#define STATE_MAX (64 * 1024)
#define KMSG "/dev/kmsg"
#define KMSG_MAX (16U << 20)	/* bytes; the kernel's log is smaller */

/* The number of a device's fatal errors that were reported. */
struct errors {
	char pci[16];
	uint64_t n;
};

/* What earlier runs since this boot have seen. */
struct seen {
	char boot[40];
	uint64_t next;		/* number of the first record in the kernel's log that was not seen */
	struct errors *errors;
	size_t n;
};

/* What is wrong with a GPU; why is "" if nothing is. */
struct finding {
	struct leased_gpu gpu;
	char why[HEALTH_WHY];
};

struct health {
	struct inventory inv;
	struct seen seen;
	struct finding *found;	/* for each GPU of the inventory */
	bool log;		/* the kernel's log could be read */
	uint64_t lost;		/* records of it that were overwritten since the last run with --mark */
};

static void
errors_fields(struct lines *s, void *member)
{
	struct errors *e = member;

	field_text(s, e->pci, sizeof(e->pci));
	field_u64(s, &e->n);
}

static bool
seen_lines(struct lines *s, struct seen *v)
{
	lines_begin(s, "health");
	field_text(s, v->boot, sizeof(v->boot));
	field_u64(s, &v->next);
	lines_members(s, "fatal", (void **)&v->errors, &v->n, 1024, sizeof(*v->errors), errors_fields);
	return lines_finish(s);
}

/* Reads the saved state.  If it is of another boot, or missing, everything counts as new. */
static void
seen_read(int dir, struct seen *v)
{
	autofree char *text = dir == -1 ? NULL : file_read_at(dir, STATE, STATE_MAX, NULL);
	struct lines s = { .at = text, .end = text != NULL ? text + strlen(text) : NULL };
	char boot[40] = "";

	(void)boot_id(boot);
	if (text != NULL && seen_lines(&s, v) && strcmp(v->boot, boot) == 0)
		return;
	free(v->errors);
	*v = (struct seen){ 0 };
	memcpy(v->boot, boot, sizeof(boot));
}

static int
seen_write(int dir, const struct seen *v, struct why *why)
{
	autobuf struct buf b = { 0 };
	struct lines s = { .out = &b };
	struct seen out = *v;

	if (!seen_lines(&s, &out) || b.failed)
		return refuse_nomem(why);
	return ctl_write_file(dir, STATE, GPUHELPER_STATEDIR "/" STATE, b.p, b.len, NULL, why);
}

/* Returns «now», the device's number of errors, if it has grown since the last run; else 0. */
static uint64_t
new_errors(struct seen *v, const char *pci, uint64_t now)
{
	struct errors *e;
	size_t i;

	for (i = 0; i < v->n && strcmp(v->errors[i].pci, pci) != 0; i++)
		;
	if (i == v->n) {
		if (now == 0 || (e = reallocarray(v->errors, v->n + 1, sizeof(*e))) == NULL)
			return now;
		v->errors = e;
		v->errors[v->n] = (struct errors){ .n = 0 };
		snprintf(v->errors[v->n++].pci, sizeof(e->pci), "%s", pci);
	}
	e = &v->errors[i];
	if (now <= e->n)
		return 0;
	e->n = now;
	return now;
}

/* Checking */

/* «TOTAL_ERR_FATAL 3» (Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats). */
static uint64_t
fatal_errors(int dir)
{
	autofree char *text = file_read_at(dir, "aer_dev_fatal", 65536, NULL);
	const char *total = text != NULL ? strstr(text, "TOTAL_ERR_FATAL ") : NULL;

	return total != NULL ? strtoull(total + 16, NULL, 10) : 0;
}

/* A device that is gone reads as all ones.  A suspended device is skipped: the read would wake it. */
static bool
is_off_the_bus(int dir)
{
	autofree char *power = file_read_at(dir, "power/runtime_status", 64, NULL);
	autoclose int fd = file_open_beneath(dir, "config", O_RDONLY);
	unsigned char id[4];

	if (fd == -1 || (power != NULL && strncmp(power, "suspended", 9) == 0))
		return false;
	return pread(fd, id, sizeof(id), 0) == sizeof(id) && (id[0] & id[1] & id[2] & id[3]) == 0xff;
}

static void
look_at_bus(struct health *h, struct finding *f)
{
	autoclose int all = open("/sys/bus/pci/devices", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int dir = all == -1 ? -1 : openat(all, f->gpu.pci, O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t n;

	if (dir == -1)
		return;
	n = new_errors(&h->seen, f->gpu.pci, fatal_errors(dir));
	if (is_off_the_bus(dir))
		snprintf(f->why, sizeof(f->why), "does not answer on the PCI bus");
	else if (n > 0)
		snprintf(f->why, sizeof(f->why), "%llu fatal PCIe errors (AER) since boot", (unsigned long long)n);
}

/* Takes a message of the kernel.  A fault of a device is a fault of all its parts. */
static void
take_kernel_message(struct health *h, const char *text)
{
	char pci[16], why[HEALTH_WHY];
	size_t i;

	if (!health_of_text(text, pci, why))
		return;
	for (i = 0; i < h->inv.gpus; i++)
		if (strcmp(h->found[i].gpu.pci, pci) == 0 && h->found[i].why[0] == '\0')
			memcpy(h->found[i].why, why, sizeof(why));
}

/* Reads the whole log.  Each read(2) returns one record; EPIPE means that records were overwritten. */
static char *
read_kmsg(void)
{
	autoclose int fd = open(KMSG, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	autobuf struct buf b = { 0 };
	char record[8192];
	ssize_t n;

	if (fd == -1)
		return NULL;
	while ((n = read(fd, record, sizeof(record))) > 0 || (n == -1 && (errno == EPIPE || errno == EINTR)))
		if (n > 0 && b.len < KMSG_MAX)
			buf_add(&b, record, (size_t)n);
	buf_puts(&b, "");
	return b.failed ? NULL : buf_take(&b);
}

static void
look_at_log(struct health *h)
{
	autofree char *all = read_kmsg();
	const uint64_t first = h->seen.next;
	uint64_t number, expected = first;
	char *line, *rest = all;
	const char *text;

	h->log = all != NULL;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (kmsg_read(line, &number, &text)) {
			/* before the first run since boot, nobody knows what was lost */
			h->lost += expected != 0 && number > expected ? number - expected : 0;
			expected = number >= expected ? number + 1 : expected;
			if (number < first)
				continue;
			h->seen.next = number + 1;
			if (text != NULL)
				take_kernel_message(h, text);
		}
}

static int
look_for_faults(struct health *h, struct why *why)
{
	size_t i;

	if (gpus_of_host(GPUS_ALL, &h->inv, why) == -1)
		return -1;
	if ((h->found = calloc(h->inv.gpus + 1, sizeof(*h->found))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < h->inv.gpus; i++)
		h->found[i].gpu = gpu_as_leased(&h->inv, &h->inv.gpu[i]);
	look_at_log(h);
	for (i = 0; i < h->inv.gpus; i++)
		if (h->found[i].gpu.pci[0] != '\0' && (i == 0 || strcmp(h->found[i].gpu.pci, h->found[i - 1].gpu.pci) != 0))
			look_at_bus(h, &h->found[i]);
	return 0;
}

/* Marking */

/* A reboot resets a GPU, so marks from before it are removed. */
static bool
forget_other_boots(struct drain_list *d)
{
	struct timespec up;
	int64_t boot;
	size_t i, left = 0;
	char name[64];
	bool any;

	clock_gettime(CLOCK_BOOTTIME, &up);
	boot = time(NULL) - up.tv_sec;
	for (i = 0; i < d->list.n; i++)
		if (!d->list.v[i].sick || d->list.v[i].since >= boot)
			d->list.v[left++] = d->list.v[i];
		else {
			name_leased_gpu(&d->list.v[i].gpu, name);
			say("%s: in service again, as the host was rebooted", name);
		}
	any = left != d->list.n;
	d->list.n = left;
	return any;
}

/* Marks the whole GPU, whose parts share its fault.  Leaves a GPU alone that an administrator has drained. */
static int
mark_one(struct drain_list *d, const struct finding *f, bool *any, struct why *why)
{
	struct leased_gpu whole = f->gpu;
	struct drained_gpu *entry;
	char name[64];

	whole.part[0] = '\0';
	if (drain_list_find(d, &whole) != NULL)
		return 0;
	if ((entry = drain_list_add(d, &whole, why)) == NULL)
		return -1;
	entry->sick = true;
	snprintf(entry->why, sizeof(entry->why), "%s", f->why);
	name_leased_gpu(&whole, name);
	say("%s: no further container gets it: %s", name, f->why);
	*any = true;
	return 0;
}

/* Writes the marks before the seen state: if we are killed in between, the next run marks the GPUs again. */
static int
mark(struct health *h, struct why *why)
{
	struct drain_list d;
	bool any = false;
	size_t i;
	int ret;

	if ((ret = drain_list_open(&d, false, why)) == 0) {
		seen_read(d.dir, &h->seen);
		any = forget_other_boots(&d);
		ret = look_for_faults(h, why);
	}
	for (i = 0; ret == 0 && i < h->inv.gpus; i++)
		if (h->found[i].why[0] != '\0')
			ret = mark_one(&d, &h->found[i], &any, why);
	if (ret == 0 && any)
		ret = drain_list_write(&d, why);
	if (ret == 0)
		ret = seen_write(d.dir, &h->seen, why);
	drain_list_close(&d);
	return ret;
}

static void
print_health(const struct options *o, const struct health *h)
{
	json_t *list = json_array(), *j;
	char name[64];
	size_t i;

	for (i = 0; i < h->inv.gpus; i++) {
		j = json_object();
		put_text(j, "vendor", gpu_vendor_name(h->found[i].gpu.vendor));
		put_text(j, "pci", h->found[i].gpu.pci);
		put_text(j, "part", h->found[i].gpu.part);
		if (h->found[i].why[0] != '\0')
			put_text(j, "finding", h->found[i].why);
		json_array_append_new(list, j);
		name_leased_gpu(&h->found[i].gpu, name);
		if (!o->json && (!o->mark || h->found[i].why[0] == '\0'))
			say("%s: %s", name, h->found[i].why[0] != '\0' ? h->found[i].why : "no fault found");
	}
	if (h->inv.gpus == 0 && !o->json && !o->mark)
		say("no GPU is found, so none was examined (gpuhelperctl doctor says why)");
	if (o->json)
		put_out(json_pack("{s:O, s:b, s:I}", "gpus", list, "kernel_log", h->log, "lost", (json_int_t)h->lost));
	else if (h->lost > 0)
		say("%llu kernel messages were lost since the last run: faults may have been missed", (unsigned long long)h->lost);
	else if (!h->log)
		say("the kernel's log was not checked: run this as root");
	json_decref(list);
}

/* What is marked counts as sick, even if the kernel's log has forgotten why. */
static void
add_marks(struct health *h)
{
	autodrained struct drained marked = { 0 };
	struct finding *f;
	size_t i, k;

	gpu_view_drained(&marked);
	for (i = 0; i < h->inv.gpus; i++)
		for (f = &h->found[i], k = 0; k < marked.n && f->why[0] == '\0'; k++)
			if (marked.v[k].sick && strcmp(marked.v[k].gpu.pci, f->gpu.pci) == 0)
				snprintf(f->why, sizeof(f->why), "%.*s", (int)sizeof(f->why) - 1, marked.v[k].why);
}

static bool
any_is_sick(const struct health *h)
{
	size_t i;

	for (i = 0; i < h->inv.gpus && h->found[i].why[0] == '\0'; i++)
		;
	return i < h->inv.gpus;
}

/* Without --mark: a fault that was marked once, and that an administrator has dismissed since (undrain), is no news. */
static int
look_only(struct health *h, struct why *why)
{
	autoclose int dir = open(GPUHELPER_STATEDIR, O_PATH | O_DIRECTORY | O_CLOEXEC);

	seen_read(dir, &h->seen);
	if (look_for_faults(h, why) == -1)
		return -1;
	add_marks(h);
	return 0;
}

int
ctl_health(const struct options *o)
{
	struct health h = { .log = false };
	bool sick = false;
	struct why why;
	int ret;

	if (o->mark && o->json)
		return misuse(o, "health: give --mark or --json, not both");
	if ((ret = o->mark ? mark(&h, &why) : look_only(&h, &why)) == 0) {
		/* the timer's run has done its work once the GPU is marked */
		sick = !o->mark && any_is_sick(&h);
		print_health(o, &h);
	}
	inventory_free(&h.inv);
	free(h.seen.errors);
	free(h.found);
	return ret == -1 ? give_up(o, &why) : sick ? WHY_ABSENT : 0;
}
