/*
 * gpuhelper-runc, the wrapper: an OCI runtime like any other to the engine that calls it. Runs with the
 * caller's rights, and must never have more.
 * Every verb goes through here, so the wrapper passes on at once what it need not change. For a bundle that
 * becomes a container, it reads config.json, asks the helper if the container asks for anything, writes the
 * new config.json, and becomes the runtime; of a «create» that it has to check or to report, the runtime is its child.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../read/conf/settingsread.h"
#include "../read/load.h"
#include "ask/lease.h"
#include "ask/recordclean.h"
#include "command/argv.h"
#include "command/message.h"
#include "command/namespace.h"
#include "command/runtime.h"
#include "create.h"
#include "exec.h"
#include "prepare.h"
#include "update.h"

/*
 * True if this verb may end a lease, or leaves records to remove: another request may have ended the lease before the
 * «delete», but it removes no records. The wrapper then waits for the runtime instead of becoming it.
 */
static bool
may_end_lease(const struct command *c)
{
	if (c->verb == NULL)
		return false;
	if (strcmp(c->verb, "delete") == 0)
		return lease_is_recorded(c) || records_are_there(c);
	return command_makes_container(c) && !command_detaches(c);
}

/*
 * Loads the settings and finds the runtime. From broken settings, it takes the runtime's path if that can still be
 * read.
 */
static char *
load_settings_and_runtime(struct settings *settings, int *settings_ok, struct why *why)
{
	autofree char *dir = namespace_path(GPUHELPER_CONFDIR), *text = NULL, *salvaged = NULL;
	struct why broken;
	char *runtime;

	*settings_ok = settings_load(dir != NULL ? dir : GPUHELPER_CONFDIR, true, settings, NULL, &text, &broken);
	if (*settings_ok == -1 && text != NULL)
		salvaged = settings_salvage_runtime(text);
	runtime = runtime_find(*settings_ok == 0 ? settings->runtime : salvaged, why);
	if (*settings_ok == -1 && runtime != NULL)
		*why = broken;
	return runtime;
}

/*
 * Makes a container. Returns 0 in the process that is to become the runtime, or -1 with *why. While the runtime makes a
 * container, the helper looks who has its GPU open (root/grant/latescan.h). If somebody has, this asks once more, and
 * the helper looks before it grants. With a terminal the runtime can't run a second time, because it sends the terminal
 * to the engine: then the helper looks first at once.
 */
static int
make_container(const struct command *c, const struct settings *settings, const char *runtime, char *const *argv,
    bool scan_first, struct why *why)
{
	struct prepared p = { .conn = HELPER_CONN_NONE };
	enum created created = CREATED_IN_CHILD;

	if (prepare_container(c, settings, runtime, scan_first, &p, why) == -1)
		return -1;
	/* without --detach, the process that asked for the grant becomes the runtime itself */
	if (command_detaches(c) && (p.granted || p.root_redirectable ||
	    (p.check_capabilities && strcmp(c->verb, "create") == 0))) {
		const struct creation creation = { c, settings->door, runtime, argv, p.granted, p.promised, p.check_rules,
			p.check_capabilities, p.root_redirectable ? &p.root : NULL, &p.folders, &p.access, p.cgroups_path, &p.conn };

		created = create_container(&creation, why);
	}
	prepared_free(&p);
	if (created != CREATED_IN_VAIN)
		return created == CREATED_IN_CHILD ? 0 : -1;
	report_notice(c, why->text);
	return scan_first ? -1 : make_container(c, settings, runtime, argv, true, why);
}

static int
run_verb(struct command *c, int argc, char *const *argv, struct why *why)
{
	autosettings struct settings settings = { 0 };
	autofree char *runtime = NULL;
	int settings_ok, status, from = 0;

	if ((runtime = load_settings_and_runtime(&settings, &settings_ok, why)) == NULL)
		return -1;
	if (command_makes_container(c) && settings_ok == -1)
		return -1;
	if (may_end_lease(c))
		switch (runtime_fork(&status, false, why)) {
		case 0:
			if (lease_is_recorded(c))
				lease_check_over(c, settings.door, status);
			if (c->id != NULL && (status == 0 || strcmp(c->verb, "delete") != 0))
				records_forget(c);
			exit(status);
		case -1:
			return -1;
		}
	if (c->kind == KIND_EXEC && c->id != NULL &&
	    (argv = exec_prepare(argc, argv, c, runtime, &settings, why)) == NULL)
		return -1;
	if (c->verb != NULL && strcmp(c->verb, "start") == 0 && c->id != NULL && namespace_is_hosts_root() &&
	    create_check_start(c, why) == -1)
		return -1;
	if (c->kind == KIND_LIMITS && update_prepare(argc, &argv, c, why) == -1)
		return -1;
	if (command_makes_container(c) &&
	    make_container(c, &settings, runtime, argv, command_next(c, ROLE_CONSOLE, &from) != NULL, why) == -1)
		return -1;
	return runtime_exec(runtime, argv, why);
}

int
main(int argc, char **argv)
{
	static struct command command;
	struct why why = { 0 };

	if (argc < 1)
		return 1;
	if (argc == 2 && strcmp(argv[1], "--gpuhelper-options") == 0)
		return verbs_show(STDOUT_FILENO) ? 0 : 1;
	if (argc == 2 && strcmp(argv[1], "--gpuhelper-version") == 0) {
		dprintf(STDOUT_FILENO, "gpuhelper-runc %s\n", GPUHELPER_VERSION);
		return 0;
	}
	runtime_begin();
	namespace_begin();
	if (argv_parse(argc, argv, &command, &why) == -1 || run_verb(&command, argc, argv, &why) == -1)
		report_error(&command, &why);
	return 1;
}
