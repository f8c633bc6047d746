/* See doctor.h: checks which driver files a container gets with each GPU, with the code that the helper runs. */
#include <stdio.h>
#include <stdlib.h>

#include "../../base/cleanup.h"
#include "../../host/driver/cdigpus.h"
#include "../../host/driver/driverfiles.h"
#include "../../host/gpu/udev.h"
#include "../../read/parse.h"
#include "doctor.h"

struct driver_look {
	struct doctor *d;
	const struct inventory *inventory;
	const struct cdi_registry *specs;
	size_t given;		/* GPUs that come with driver files */
	bool bad;		/* there was a finding */
	struct strlist told;	/* notes that were printed */
};

/* Prints the notes of a grant, each once: mostly those of all GPUs are the same.  True if there was one. */
static bool
tell_notes(struct driver_look *l, const struct edits *e)
{
	size_t i;

	for (i = 0; i < e->notes.n; i++)
		if (!strlist_has(&l->told, e->notes.v[i]) && strlist_add(&l->told, e->notes.v[i], SIZE_MAX))
			doctor_say(l->d, FINDING_WARN, "driver", NULL, "%s", e->notes.v[i]);
	return e->notes.n > 0;
}

/*
 * NVIDIA's files must match the loaded driver, so they must come from this host.  Images usually bring AMD's and
 * Intel's files.
 */
static void
look_at_gpu(struct driver_look *l, const struct gpu *g)
{
	const struct gpu_rule rule = { .has_vendor = true, .vendor = g->vendor, .count = 1,
		.capabilities = GPU_CAP_COMPUTE | GPU_CAP_UTILITY };
	const struct granted_gpu granted = { g, &rule };
	const struct driver_question q = { l->specs, l->inventory, &l->d->settings, &granted, 1, false };
	const char *vendor = gpu_vendor_name(g->vendor);
	autostrlist struct strlist used = { 0 };
	autofree char *fix = NULL;
	struct edits edits = { 0 };
	struct why why;

	if (asprintf(&fix, "gpuhelperctl cdi generate --vendor %s --output /etc/cdi/gpuhelper-%s.json", vendor, vendor) == -1)
		fix = NULL;
	if (driver_files(&q, &edits, &used, &why) == -1) {
		doctor_say(l->d, FINDING_FAIL, "driver", NULL, "%s", why.text);
		l->bad = true;
	} else if (edits.mounts == 0 && g->vendor == GPU_NVIDIA) {
		doctor_say(l->d, FINDING_WARN, "driver", fix, "no driver files come with %s GPU %s: only images with the "
		    "libraries of the loaded driver can use it", vendor, g->pci);
		l->bad = true;
	} else
		l->bad = tell_notes(l, &edits) || l->bad;
	l->given += edits.mounts > 0;
	edits_free(&edits);
}

static void
check_driver_files(struct driver_look *l)
{
	size_t i, usable = 0;

	for (i = 0; i < l->inventory->gpus; i++)
		if (l->inventory->gpu[i].unusable[0] == '\0') {
			usable++;
			look_at_gpu(l, &l->inventory->gpu[i]);
		}
	if (usable > 0 && !l->bad)
		doctor_say(l->d, FINDING_OK, "driver", NULL, "driver files come with %zu of %zu GPUs", l->given, usable);
}

void
doctor_driver(struct doctor *d)
{
	autocdiregistry struct cdi_registry specs = { 0 };
	struct inventory inv = { 0 };
	struct driver_look l = { .d = d, .inventory = &inv, .specs = &specs };

	if (d->settings.driver_files == DRIVER_FILES_NONE)
		doctor_say(d, FINDING_OK, "driver", NULL, "images bring their own driver files (driver_files = \"none\")");
	else if (d->settings.driver_files == DRIVER_FILES_VENDOR_RUNTIME)
		doctor_say(d, FINDING_OK, "driver", NULL, "a vendor's runtime adds the driver files (driver_files = "
		    "\"vendor-runtime\")");
	else if (doctor_specs_are_hidden())
		doctor_say(d, FINDING_OK, "driver", NULL, "only root can see which files come with the GPUs: run gpuhelperctl "
		    "doctor as root");
	else if (gpus_of_host(GPUS_ALL, &inv, &d->why) == -1 ||
	    cdi_registry_load(CDI_DIRS, true, specs_parse, &specs, &d->why) == -1 ||
	    cdigpus_name(&specs, &inv, &d->why) == -1)
		doctor_say(d, FINDING_FAIL, "driver", NULL, "%s", d->why.text);
	else
		check_driver_files(&l);
	strlist_free(&l.told);
	inventory_free(&inv);
}
