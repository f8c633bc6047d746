/* See commands.h: the tables, and lookups in them. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "../base/text.h"
#include "../base/textnear.h"

#define AT(field) offsetof(struct options, field)

const struct option_kind option_kinds[OPTS] = {
	[OPT_CONFIG_DIR] = { "config-dir", 0, "DIR", AT(config_dir) },
	[OPT_JSON] = { "json", 0, NULL, AT(json) },
	[OPT_VERBOSE] = { "verbose", 'v', NULL, AT(verbose) },
	[OPT_STRICT] = { "strict", 0, NULL, AT(strict) },
	[OPT_DRY_RUN] = { "dry-run", 'n', NULL, AT(dry_run) },
	[OPT_BUNDLE] = { "bundle", 'b', "DIR", AT(bundle) },
	[OPT_USER] = { "user", 0, "USER", AT(user) },
	[OPT_PIPELINE] = { "pipeline", 0, "TEAM/PIPELINE", AT(pipeline) },
	[OPT_JOB] = { "job", 0, "JOB", AT(job) },
	[OPT_IDENTITY] = { "identity", 0, "token|claim|caller", AT(identity) },
	[OPT_ISSUER] = { "issuer", 0, "URL", AT(issuer) },
	[OPT_GPUS] = { "gpus", 0, "LIST", AT(gpus) },
	[OPT_FOLDERS] = { "folders", 0, "LIST", AT(folders) },
	[OPT_INSTANCE_VARS] = { "instance-vars", 0, "JSON", AT(instance_vars) },
	[OPT_CLAIMS] = { "claims", 0, "JSON", AT(claims) },
	[OPT_INSTANCE_VAR] = { "instance-var", 0, "NAME=VALUE", AT(instance_var) },
	[OPT_TOKEN_FILE] = { "token-file", 0, "FILE|-", AT(token_file) },
	[OPT_AT] = { "at", 0, "TIME", AT(at) },
	[OPT_OUTPUT_DIR] = { "output-dir", 0, "DIR", AT(output_dir) },
	[OPT_CACERT] = { "cacert", 0, "FILE", AT(cacert) },
	[OPT_FROM] = { "from", 0, "DIR", AT(from) },
	[OPT_SPEC_DIRS] = { "spec-dirs", 0, "DIR:...", AT(spec_dirs) },
	[OPT_DEVICE] = { "device", 0, "NAME", AT(device) },
	[OPT_HOST] = { "host", 0, NULL, AT(host) },
	[OPT_VENDOR] = { "vendor", 0, "nvidia|amd|intel", AT(vendor) },
	[OPT_OUTPUT] = { "output", 0, "FILE|DIR/", AT(output) },
	[OPT_ROOT] = { "root", 0, "DIR", AT(root) },
	[OPT_DRIVER_ROOT] = { "driver-root", 0, "DIR", AT(driver_root) },
	[OPT_LIBRARY_PATH] = { "library-path", 0, "DIR", AT(library_path) },
	[OPT_ROCM_LIBS] = { "rocm-libs", 0, NULL, AT(rocm_libs) },
	[OPT_MPS] = { "mps", 0, NULL, AT(mps) },
	[OPT_WORKER_DIR] = { "worker-dir", 0, "DIR", AT(worker_dir) },
	[OPT_UNDO] = { "undo", 0, NULL, AT(undo) },
	[OPT_TAGS] = { "tags", 0, NULL, AT(tags) },
	[OPT_IMAGE] = { "image", 0, NULL, AT(image) },
	[OPT_ROOTLESS] = { "rootless", 0, NULL, AT(rootless) },
	[OPT_SINCE] = { "since", 0, "TIME", AT(since) },
	[OPT_UNTIL] = { "until", 0, "TIME", AT(until) },
	[OPT_DENIED] = { "denied", 0, NULL, AT(denied) },
	[OPT_DEVICES] = { "devices", 0, "FILE|-", AT(devices_file) },
	[OPT_AGAINST] = { "against", 0, "FILE|-", AT(against) },
	[OPT_WATCH] = { "watch", 0, NULL, AT(watch) },
	[OPT_TO] = { "to", 0, "journal|syslog|stdout", AT(to) },
	[OPT_STATE] = { "state", 0, "FILE", AT(state) },
	[OPT_MARK] = { "mark", 0, NULL, AT(mark) },
	[OPT_WHY] = { "why", 0, "TEXT", AT(reason) },
	[OPT_ALL] = { "all", 0, NULL, AT(all) },
	[OPT_YES] = { "yes", 'y', NULL, AT(yes) },
	[OPT_HEAD] = { "head", 0, "HASH", AT(head) },
	[OPT_PARTIAL] = { "partial", 0, NULL, AT(partial) },
};

#define CONFIG_DIR { OPT_CONFIG_DIR, false, "read this directory instead of " GPUHELPER_CONFDIR }
#define JSON { OPT_JSON, false, "print JSON, for programs" }
#define END { OPTS, false, NULL }

static const struct takes takes_check[] = { CONFIG_DIR, JSON,
	{ OPT_STRICT, false, "treat warnings as errors" },
	{ OPT_AGAINST, false, "compare the policies with the GPUs of other hosts: {\"HOST\": output of devices --json}" },
	{ OPT_VERBOSE, false, "also print what was read, and what device cgroups enforce" },
	END };
static const struct takes takes_explain[] = { CONFIG_DIR, JSON,
	{ OPT_BUNDLE, false, "the container of this bundle; replaces the other options except --user" },
	{ OPT_PIPELINE, false, "the container's pipeline" },
	{ OPT_JOB, false, "its job" },
	{ OPT_INSTANCE_VARS, false, "its instance variables" },
	{ OPT_CLAIMS, false, "further claims of its token" },
	{ OPT_IDENTITY, false, "the proof of the pipeline; default: a valid token" },
	{ OPT_ISSUER, false, "the issuer of the token" },
	{ OPT_TOKEN_FILE, false, "the container brings this token; print each check of it" },
	{ OPT_AT, false, "judge the token as of this time: seconds since 1970, or 2026-11-20T23:06:00Z" },
	{ OPT_GPUS, false, "the GPUs that it requests, as in GPUHELPER_GPUS" },
	{ OPT_FOLDERS, false, "the folders that it requests, as in GPUHELPER_FOLDERS" },
	{ OPT_USER, false, "the user who runs the worker, by name or uid; default: you" },
	END };
static const struct takes takes_devices[] = { CONFIG_DIR, JSON, END };
static const struct takes takes_test[] = { CONFIG_DIR, JSON,
	{ OPT_DEVICES, false, "take the GPUs from this output of «devices --json»" },
	{ OPT_VERBOSE, false, "also name each test that passes" },
	END };
static const struct takes takes_edit[] = { CONFIG_DIR, END };
static const struct takes takes_doctor[] = { JSON,
	{ OPT_USER, false, "check on behalf of this user, by name or uid; for root" },
	END };
static const struct takes takes_fetch[] = { CONFIG_DIR, JSON,
	{ OPT_OUTPUT_DIR, false, "write to this directory instead of the issuers' key files" },
	{ OPT_CACERT, false, "verify certificates against this file instead of the system's store" },
	END };
static const struct takes takes_show[] = { CONFIG_DIR, JSON, END };
static const struct takes takes_import[] = { CONFIG_DIR, JSON, { OPT_ISSUER, true, "the issuer of the keys" }, END };
static const struct takes takes_place[] = { CONFIG_DIR, JSON,
	{ OPT_FROM, true, "the directory that «keys fetch --output-dir» wrote" },
	END };
static const struct takes takes_json[] = { JSON, END };
static const struct takes takes_reap[] = { JSON, { OPT_DRY_RUN, false, "only name the leases that would end" }, END };
static const struct takes takes_validate[] = { CONFIG_DIR, JSON,
	{ OPT_HOST, false, "also compare the specs with this host" },
	END };
static const struct takes takes_list[] = { JSON,
	{ OPT_SPEC_DIRS, false, "read these directories instead of /etc/cdi:/run/cdi" },
	END };
static const struct takes takes_inject[] = { JSON,
	{ OPT_SPEC_DIRS, false, "read these directories instead of /etc/cdi:/run/cdi" },
	{ OPT_DEVICE, true, "vendor/class=name; may be repeated" },
	END };
static const struct takes takes_generate[] = { JSON,
	{ OPT_VENDOR, false, "the vendor; default: the vendor of this host's GPUs" },
	{ OPT_OUTPUT, false, "write the spec there instead of to stdout" },
	{ OPT_ROCM_LIBS, false, "AMD: add the libraries of /opt/rocm/lib" },
	{ OPT_MPS, false, "NVIDIA: add the Multi-Process Service" },
	{ OPT_DRIVER_ROOT, false, "NVIDIA: the root directory of a driver in a container" },
	{ OPT_LIBRARY_PATH, false, "NVIDIA: also look for libraries there; may be repeated" },
	{ OPT_ROOT, false, "describe the host with this root directory" },
	END };

static const struct takes takes_audit[] = { JSON,
	{ OPT_SINCE, false, "only records since 30m, 12h or 7d ago, yesterday, or 2026-11-25" },
	{ OPT_PIPELINE, false, "only records of this pipeline" },
	{ OPT_INSTANCE_VAR, false, "only records with this instance variable; may be repeated" },
	{ OPT_DENIED, false, "only refusals" },
	END };
static const struct takes takes_verify[] = { JSON,
	{ OPT_HEAD, false, "verify that the log still contains the record with this hash, which this command printed" },
	{ OPT_PARTIAL, false, "the oldest records may be missing: they were rotated away" },
	END };
static const struct takes takes_follow[] = {
	{ OPT_TO, true, "the destination" },
	{ OPT_STATE, false, "store the position here; the next start continues there" },
	{ OPT_JSON, false, "with --to stdout: print the records unchanged" },
	END };
static const struct takes takes_report[] = { CONFIG_DIR,
	{ OPT_OUTPUT, true, "write the page to this file; - means stdout" },
	{ OPT_SINCE, false, "the beginning: 30d or 12h ago, or 2026-11-20T23:06:00Z; default: the first record" },
	{ OPT_UNTIL, false, "the end; default: now, or with FILE the last record" },
	{ OPT_PIPELINE, false, "only this pipeline" },
	{ OPT_INSTANCE_VAR, false, "only pipelines with this instance variable; may be repeated" },
	END };
#define DRY_AND_UNDO { OPT_DRY_RUN, false, "only print what would be done" }, \
	{ OPT_UNDO, false, "remove everything that this command has added" }
static const struct takes takes_setup[] = { DRY_AND_UNDO,
	{ OPT_WORKER_DIR, false, "the worker's work directory, if the command can't find it" },
	{ OPT_TAGS, false, "give the worker tags; with --undo: remove only the tags" },
	{ OPT_IMAGE, false, "set up a worker's image while the image is built; no worker has to run" },
	END };
static const struct takes takes_setup_engine[] = { DRY_AND_UNDO, END };
static const struct takes takes_setup_podman[] = { DRY_AND_UNDO,
	{ OPT_ROOTLESS, false, "add the storage of users who run podman to volumes" },
	END };

static const struct takes takes_status[] = { JSON,
	{ OPT_WATCH, false, "repeat every two seconds until interrupted" },
	END };
static const struct takes takes_drain[] = {
	{ OPT_WHY, false, "the reason, which status and refused tasks show" },
	END };
static const struct takes takes_undrain[] = {
	{ OPT_ALL, false, "all drained GPUs" },
	END };
static const struct takes takes_health[] = { JSON,
	{ OPT_MARK, false, "grant sick GPUs to no further container; for root" },
	END };
static const struct takes takes_end[] = {
	{ OPT_DRY_RUN, false, "only print what would happen to the container" },
	{ OPT_YES, false, "do not ask" },
	END };
static const struct takes takes_metrics[] = { CONFIG_DIR,
	{ OPT_FROM, false, "read what «metrics gather» has written to this directory, instead of the helper and its files" },
	{ OPT_OUTPUT, false, "write to this file instead of stdout" },
	END };
static const struct takes takes_metrics_gather[] = { CONFIG_DIR,
	{ OPT_OUTPUT_DIR, true, "write to this directory, for its owner" },
	END };
static const struct takes takes_metrics_place[] = {
	{ OPT_FROM, true, "the directory that has the file gpuhelper.prom" },
	{ OPT_OUTPUT, true, "copy it to this file" },
	END };

static const struct takes takes_none[] = { END };

const struct command commands[] = {
	{ "check", "[DIR|FILE|- ...]", 0, SIZE_MAX, "check gpuhelper.conf and the policies for errors and doubtful rules",
	  takes_check, ctl_check },
	{ "explain", "", 0, 0, "show which policy decides about a container, and why", takes_explain, ctl_explain },
	{ "test", "FILE|-", 1, 1, "compare the policies' answers with a file of requests and expected outcomes", takes_test,
	  ctl_test },
	{ "edit", "gpuhelper.conf|POLICY", 1, 1, "edit a file of the configuration, and check it before it takes effect",
	  takes_edit, ctl_edit },
	{ "show-config", "", 0, 0, "print the settings and policies in force, including defaults", takes_show,
	  ctl_show_config },
	{ "devices", "", 0, 0, "list the GPUs of this host and their device nodes", takes_devices, ctl_devices },
	{ "tags", "", 0, 0, "print the Concourse tags that describe this host's GPUs", takes_devices, ctl_tags },
	{ "keys fetch", "[ISSUER_URL]", 0, 1, "fetch the issuers' public keys, which verify tokens",
	  takes_fetch, ctl_keys_fetch },
	{ "keys show", "", 0, 0, "list the issuers' keys, their age, and which can't be used", takes_show, ctl_keys_show },
	{ "keys import", "FILE|-", 1, 1, "install an issuer's keys from a file", takes_import, ctl_keys_import },
	{ "keys place", "", 0, 0, "install keys that «keys fetch --output-dir» wrote", takes_place, ctl_keys_place },
	{ "status", "", 0, 0, "list the GPUs, the containers that hold them, and the queue", takes_status, ctl_status },
	{ "drain", "GPU", 1, 1, "take a GPU out of service: no further container gets it", takes_drain, ctl_drain },
	{ "undrain", "[GPU]", 0, 1, "return a GPU to service", takes_undrain, ctl_undrain },
	{ "health", "", 0, 0, "find broken GPUs by what the kernel reports", takes_health, ctl_health },
	{ "end", "CONTAINER", 1, 1, "end a container that holds GPUs", takes_end, ctl_end },
	{ "metrics", "", 0, 0, "print leases, waits, refusals and GPUs as numbers for Prometheus",
	  takes_metrics, ctl_metrics },
	{ "metrics gather", "", 0, 0, "for a service: collect, as root, what another user makes numbers of",
	  takes_metrics_gather, ctl_metrics_gather },
	{ "metrics place", "", 0, 0, "for a service: copy, as root, the numbers that another user has made",
	  takes_metrics_place, ctl_metrics_place },
	{ "reap", "", 0, 0, "end the leases that are over", takes_reap, ctl_reap },
	{ "reapply", "", 0, 0, "restore the permissions of leased nodes that something has reset", takes_json, ctl_reapply },
	{ "cdi validate", "FILE|- ...", 1, SIZE_MAX, "check that CDI specs are valid, and safe for a helper that runs as root",
	  takes_validate, ctl_cdi_validate },
	{ "cdi list", "", 0, 0, "list the CDI devices of this host, and the file of each", takes_list, ctl_cdi_list },
	{ "cdi inject", "CONFIG.json|-", 1, 1, "print a config.json with the edits of CDI devices", takes_inject,
	  ctl_cdi_inject },
	{ "cdi generate", "", 0, 0, "print a CDI spec of this host's GPUs and their driver's files", takes_generate,
	  ctl_cdi_generate },
	{ "audit show", "[FILE|- ...]", 0, SIZE_MAX, "print a line for each record of the audit log", takes_audit,
	  ctl_audit_show },
	{ "audit verify", "[FILE ...]", 0, SIZE_MAX, "check that no record of the audit log was changed, removed or moved",
	  takes_verify, ctl_audit_verify },
	{ "audit follow", "[FILE]", 0, 1, "send new audit records to the journal, syslog or stdout", takes_follow,
	  ctl_audit_follow },
	{ "report", "[FILE ...]", 0, SIZE_MAX, "write an HTML page about the use of the GPUs, waits and refusals",
	  takes_report, ctl_report },
	{ "setup concourse", "", 0, 0, "put gpuhelper in front of this host's Concourse worker", takes_setup,
	  ctl_setup_concourse },
	{ "setup containerd", "", 0, 0, "make gpuhelper judge the containers of this host's own containerd",
	  takes_setup_engine, ctl_setup_containerd },
	{ "setup podman", "", 0, 0, "make gpuhelper judge the containers of podman, root's and the users'", takes_setup_podman,
	  ctl_setup_podman },
	{ "setup docker", "", 0, 0, "make gpuhelper judge the containers of this host's docker", takes_setup_engine,
	  ctl_setup_docker },
	{ "doctor", "", 0, 0, "check each step from the engine to the GPUs", takes_doctor, ctl_doctor },
	{ "help", "[COMMAND]", 0, 2, "print the subcommands, or the options of one", takes_json, help_print },
	{ "complete", "-- [WORD ...]", 0, SIZE_MAX, "print the words that could replace the last WORD, for shells",
	  takes_none, ctl_complete },
	{ "version", "", 0, 0, "print the version", takes_json, ctl_version },
};
const size_t commands_n = sizeof(commands) / sizeof(commands[0]);

const struct takes *
command_takes(const struct command *c, enum opt option)
{
	const struct takes *t;

	for (t = c->takes; t->help != NULL; t++)
		if (t->option == option)
			return t;
	return NULL;
}

bool
command_is_of(const struct command *c, const char *group)
{
	const size_t n = strlen(group);

	return strncmp(c->name, group, n) == 0 && (c->name[n] == '\0' || c->name[n] == ' ');
}

bool
command_is_group(const char *word)
{
	size_t i;

	for (i = 0; i < commands_n; i++)
		if (command_is_of(&commands[i], word) && strcmp(commands[i].name, word) != 0)
			return true;
	return false;
}

/* Suggests the nearest command; for a group, lists the words that may follow. */
static int
refuse_words(const char *given, const char *group, struct why *why)
{
	const char *names[sizeof(commands) / sizeof(commands[0]) + 1], *near;
	autobuf struct buf list = { 0 };
	size_t i, n = 0, k;

	for (i = 0; i < commands_n; i++)
		if (group == NULL || command_is_of(&commands[i], group))
			names[n++] = commands[i].name;
	names[n] = NULL;
	if ((near = text_nearest(given, names)) != NULL)
		return refuse(why, WHY_USAGE, "unknown command \"%.80s\"; did you mean \"%s\"?", given, near);
	if (group == NULL)
		return refuse(why, WHY_USAGE, "unknown command \"%.80s\" (see gpuhelperctl --help)", given);
	for (k = 0; k < n; k++)
		buf_printf(&list, "%s%s", k == 0 ? "" : k + 1 == n ? " or " : ", ", names[k] + strlen(group) + 1);
	return refuse(why, WHY_USAGE, "%s needs %s (see gpuhelperctl help %s)", group, list.failed ? "a word" : list.p, group);
}

const struct command *
command_find(char *const *word, size_t words, size_t *used, struct why *why)
{
	const bool group = command_is_group(word[0]);
	bool alone = false;	/* the group's name is a command, too */
	char name[80];
	size_t i;

	*used = group && words > 1 ? 2 : 1;
	snprintf(name, sizeof(name), "%.39s%s%.39s", word[0], *used == 2 ? " " : "", *used == 2 ? word[1] : "");
	for (i = 0; i < commands_n; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
		alone = alone || strcmp(commands[i].name, word[0]) == 0;
	}
	(void)refuse_words(name, group && !alone ? word[0] : NULL, why);
	return NULL;
}
