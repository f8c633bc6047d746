/*
 * gpuhelperctl doctor: checks each step from the engine to the GPUs, from the view of the worker's user, and prints one
 * line for each.  Runs with its caller's rights, and says which steps these do not let it check.  Changes nothing, and
 * asks the helper for its status only.
 */
#include "doctor.h"

#include <stdlib.h>
#include <unistd.h>

#include "../../base/text.h"
#include "../../host/users.h"
#include "../configload.h"

static int
find_worker_user(struct doctor *d, struct why *why)
{
	const char *given = d->options->user;
	uint32_t uid;

	d->uid = getuid();
	if (given != NULL && !user_uid(given, &d->uid, NULL) && !text_u32(given, 0, UINT32_MAX - 1, &d->uid))
		return refuse(why, WHY_USAGE, "user \"%s\" is not in /etc/passwd", given);
	uid = getuid();
	d->self = d->uid == uid;
	d->user = user_name(d->uid);
	return 0;
}

int
ctl_doctor(const struct options *o)
{
	static void (*const steps[])(struct doctor *) = { doctor_wrapper, doctor_engine, doctor_runtime, doctor_volumes,
		doctor_group, doctor_door, doctor_policies, doctor_privileged, doctor_keys, doctor_gpus, doctor_cdi,
		doctor_driver, doctor_units, doctor_selinux, doctor_audit, doctor_state, doctor_cgroups, doctor_access };
	struct doctor d = { .options = o, .checks = json_array() };
	struct why why;
	size_t i;
	int ret;

	if ((ret = find_worker_user(&d, &why)) == 0 && (ret = config_settings_or_default(o, &d.settings, &why)) == 0) {
		worker_find(d.uid, &d.worker);
		for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
			steps[i](&d);
	}
	worker_free(&d.worker);
	settings_free(&d.settings);
	strlist_free(&d.kinds);
	strlist_free(&d.privileged);
	free(d.user);
	if (ret == -1) {
		json_decref(d.checks);
		return give_up(o, &why);
	}
	if (o->json)
		put_out(json_pack("{s:b, s:I, s:I, s:o}", "ok", d.failures == 0, "failures", (json_int_t)d.failures, "warnings",
		    (json_int_t)d.warnings, "checks", d.checks));
	else
		json_decref(d.checks);
	return d.failures == 0 ? 0 : WHY_CONFIG;
}
