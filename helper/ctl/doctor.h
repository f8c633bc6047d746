/* gpuhelperctl doctor: what it finds, and where each part of it looks. */
#ifndef GPUHELPER_CTL_DOCTOR_H
#define GPUHELPER_CTL_DOCTOR_H

#include "../pure/gpu.h"
#include "../pure/settings.h"
#include "../user/door.h"
#include "ctl.h"
#include "worker.h"

enum finding { FINDING_OK, FINDING_WARN, FINDING_FAIL };

struct doctor {
	const struct options *options;
	uint32_t uid;			/* the worker's user: who runs this, or --user */
	char *user;			/* NULL: it has no name */
	bool self;			/* it is who runs this */
	struct settings settings;	/* the defaults where they can't be read */
	struct worker worker;		/* what of his worker can be seen */
	unsigned vendors;		/* whose GPUs the policies give by the vendor's name, as a mask */
	bool gives_gpus;		/* they give some, as far as they can be read */
	struct why why;			/* of the step at hand */
	json_t *checks;
	size_t warnings, failures;
};

/*
 * One line: what was looked at («topic», one word), what is found, and the command
 * that mends it, or NULL.
 */
void doctor_say(struct doctor *d, enum finding f, const char *topic, const char *mend, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* The chain from the engine to the runtime. */
void doctor_wrapper(struct doctor *d);
void doctor_engine(struct doctor *d);
void doctor_runtime(struct doctor *d);
void doctor_volumes(struct doctor *d);
void doctor_group(struct doctor *d);
void doctor_door(struct doctor *d);
/*
 * A program that the helper starts, and refuses to start where others could have written it.  False, and told with what
 * is so without it: it is missing, or not root's alone.
 */
bool doctor_program(struct doctor *d, const char *topic, const char *path, enum finding bad, const char *without);
/* What it is judged by. */
void doctor_policies(struct doctor *d);
void doctor_keys(struct doctor *d);
/* What it acts on. */
void doctor_gpus(struct doctor *d);
void doctor_cdi(struct doctor *d);
void doctor_driver(struct doctor *d);
void doctor_units(struct doctor *d);
void doctor_selinux(struct doctor *d);
void doctor_audit(struct doctor *d);
void doctor_state(struct doctor *d);
void doctor_cgroups(struct doctor *d);
/* Of doctor_gpus(), where there are NVIDIA GPUs: whether systemd can find their nodes by number. */
void doctor_links(struct doctor *d, const struct inventory *inv);

/*
 * Whether a device cgroup holds containers of this user's runtimes on this host
 * to their GPUs; *text says so in words, with what follows from it.
 */
bool enforced_for(uint32_t uid, const struct settings *settings, char *text, size_t size);

#endif
