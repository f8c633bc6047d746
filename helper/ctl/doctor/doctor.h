/* gpuhelperctl doctor: its state, and its steps. */
#ifndef GPUHELPER_CTL_DOCTOR_DOCTOR_H
#define GPUHELPER_CTL_DOCTOR_DOCTOR_H

#include "../../gpu/gpu.h"
#include "../../policy/settings.h"
#include "../../user/ask/door.h"
#include "../ctl.h"
#include "../worker/worker.h"

enum finding { FINDING_OK, FINDING_WARN, FINDING_FAIL };

struct doctor {
	const struct options *options;
	uint32_t uid;			/* the worker's user: --user, or this process' user */
	char *user;			/* the user's name, or NULL */
	bool self;			/* the worker's user is this process' user */
	struct settings settings;	/* the defaults if they can't be read */
	struct worker worker;		/* the user's worker, as far as this process may see it */
	unsigned vendors;		/* mask of the vendors that the policies name */
	struct strlist kinds;		/* the CDI kinds that the policies name */
	bool gives_gpus;		/* a readable policy grants GPUs */
	struct strlist privileged;	/* the readable policies that let containers be privileged */
	struct why why;			/* scratch of the current step */
	json_t *checks;
	size_t warnings, failures;
};

/* Prints one finding: «topic» is the step, in one word; «fix» is the command that fixes the fault, or NULL. */
void doctor_say(struct doctor *d, enum finding f, const char *topic, const char *fix, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* True if this process, which is not root, can't list one of the directories of CDI specs (cdi_validate.h). */
bool doctor_specs_are_hidden(void);

/* The chain from the engine to the runtime. */
void doctor_wrapper(struct doctor *d);
void doctor_engine(struct doctor *d);
void doctor_runtime(struct doctor *d);
void doctor_volumes(struct doctor *d);
void doctor_group(struct doctor *d);
void doctor_door(struct doctor *d);
/*
 * Checks a program that the helper starts: only root may be able to write to it, else the helper does not start it.
 * False, with a finding, if it is missing or unsafe; «without» says what does not work then.
 */
bool doctor_program(struct doctor *d, const char *topic, const char *path, enum finding bad, const char *without);
/* The configuration. */
void doctor_policies(struct doctor *d);
void doctor_privileged(struct doctor *d);
void doctor_keys(struct doctor *d);
/* The host. */
void doctor_gpus(struct doctor *d);
void doctor_cdi(struct doctor *d);
void doctor_driver(struct doctor *d);
/* True if systemd runs this host, and so obeys systemctl. */
bool systemd_runs(void);
void doctor_units(struct doctor *d);
void doctor_selinux(struct doctor *d);
void doctor_audit(struct doctor *d);
void doctor_state(struct doctor *d);
void doctor_cgroups(struct doctor *d);
void doctor_access(struct doctor *d);
/* The mask of the vendors of whom this host has a GPU, or may have one. */
unsigned doctor_vendors(void);
/* Part of doctor_gpus() on hosts with NVIDIA GPUs: checks that systemd can find their nodes by number. */
void doctor_links(struct doctor *d, const struct inventory *inv);

#endif
