/* See commands.h.  Data, and looking things up in it. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "../pure/text.h"

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
};

#define CONFIG_DIR { OPT_CONFIG_DIR, false, "in place of " GPUHELPER_CONFDIR }
#define JSON { OPT_JSON, false, "print JSON, for programs" }
#define END { OPTS, false, NULL }

static const struct takes takes_check[] = { CONFIG_DIR, JSON,
	{ OPT_STRICT, false, "a warning fails, too" },
	{ OPT_AGAINST, false, "judge the policies by the GPUs of these hosts: {\"HOST\": what devices --json printed}" },
	{ OPT_VERBOSE, false, "say also what was read, and what device cgroups hold" },
	END };
static const struct takes takes_explain[] = { CONFIG_DIR, JSON,
	{ OPT_BUNDLE, false, "the container is that of this bundle, which says all but the user" },
	{ OPT_PIPELINE, false, "it is one of this pipeline" },
	{ OPT_JOB, false, "and of this job" },
	{ OPT_INSTANCE_VARS, false, "and has these instance variables" },
	{ OPT_IDENTITY, false, "how that is known; as if by a token where this is left out" },
	{ OPT_ISSUER, false, "who signed the token" },
	{ OPT_TOKEN_FILE, false, "it brings this token, each check of which is printed" },
	{ OPT_AT, false, "judge the token as of then: seconds since 1970, or 2026-11-20T23:06:00Z" },
	{ OPT_GPUS, false, "it asks for these, as in GPUHELPER_GPUS" },
	{ OPT_FOLDERS, false, "it asks for these, as in GPUHELPER_FOLDERS" },
	{ OPT_USER, false, "who runs the worker, by name or uid; else who runs this" },
	END };
static const struct takes takes_devices[] = { CONFIG_DIR, JSON, END };
static const struct takes takes_test[] = { CONFIG_DIR, JSON,
	{ OPT_DEVICES, false, "the GPUs are those that «devices --json» of some host printed" },
	{ OPT_VERBOSE, false, "name also each test that passes" },
	END };
static const struct takes takes_edit[] = { CONFIG_DIR, END };
static const struct takes takes_doctor[] = { JSON,
	{ OPT_USER, false, "look on behalf of this user, by name or uid; for root" },
	END };
static const struct takes takes_fetch[] = { CONFIG_DIR, JSON,
	{ OPT_OUTPUT_DIR, false, "write to this directory, and not to the issuers' own files" },
	{ OPT_CACERT, false, "verify certificates against these, and not the system's" },
	END };
static const struct takes takes_show[] = { CONFIG_DIR, JSON, END };
static const struct takes takes_import[] = { CONFIG_DIR, JSON, { OPT_ISSUER, true, "whose keys they are" }, END };
static const struct takes takes_place[] = { CONFIG_DIR, JSON,
	{ OPT_FROM, true, "where «keys fetch --output-dir» left them" },
	END };
static const struct takes takes_json[] = { JSON, END };
static const struct takes takes_reap[] = { JSON, { OPT_DRY_RUN, false, "only name them" }, END };
static const struct takes takes_validate[] = { JSON,
	{ OPT_HOST, false, "compare them with this host, too" },
	END };
static const struct takes takes_list[] = { JSON,
	{ OPT_SPEC_DIRS, false, "in place of /etc/cdi:/run/cdi" },
	END };
static const struct takes takes_inject[] = { JSON,
	{ OPT_SPEC_DIRS, false, "in place of /etc/cdi:/run/cdi" },
	{ OPT_DEVICE, true, "vendor/class=name; may be given again" },
	END };
static const struct takes takes_generate[] = { JSON,
	{ OPT_VENDOR, false, "whose GPUs; else those that are here" },
	{ OPT_OUTPUT, false, "write it there; else it goes to stdout" },
	{ OPT_ROCM_LIBS, false, "AMD: the libraries of /opt/rocm/lib come along" },
	{ OPT_MPS, false, "NVIDIA: the Multi-Process Service comes along" },
	{ OPT_ROOT, false, "the host is the one whose root directory this is" },
	END };

static const struct takes takes_audit[] = { JSON,
	{ OPT_SINCE, false, "30m, 12h or 7d ago, or since 2026-11-20T23:06:00Z" },
	{ OPT_PIPELINE, false, "of this pipeline alone" },
	{ OPT_DENIED, false, "only what was refused" },
	END };
static const struct takes takes_verify[] = { JSON,
	{ OPT_HEAD, false, "the log was once up to this record, whose hash this command printed then" },
	END };
static const struct takes takes_follow[] = {
	{ OPT_TO, true, "where the records go" },
	{ OPT_STATE, false, "the last record that was sent is written down here, and the next start goes on behind it" },
	{ OPT_JSON, false, "to stdout: the records as they are" },
	END };
static const struct takes takes_report[] = {
	{ OPT_OUTPUT, true, "write the page to this file; - is stdout" },
	{ OPT_SINCE, false, "from 30d or 12h ago, or 2026-11-20T23:06:00Z, on; else from the first record on" },
	{ OPT_UNTIL, false, "up to then, likewise; else up to now, or of files that are named to the last record" },
	END };
#define DRY_AND_UNDO { OPT_DRY_RUN, false, "only say what would be done" }, \
	{ OPT_UNDO, false, "take away what this command has put there" }
static const struct takes takes_setup[] = { DRY_AND_UNDO,
	{ OPT_WORKER_DIR, false, "the worker's work directory, where it can't be seen" },
	{ OPT_TAGS, false, "give the worker tags; with --undo: take these alone away" },
	{ OPT_IMAGE, false, "for the image of a worker, while it is built: no worker has to run" },
	END };
static const struct takes takes_setup_engine[] = { DRY_AND_UNDO, END };
static const struct takes takes_setup_podman[] = { DRY_AND_UNDO,
	{ OPT_ROOTLESS, false, "add the storage of users who run podman to volumes" },
	END };

static const struct takes takes_status[] = { JSON,
	{ OPT_WATCH, false, "again each two seconds, until interrupted" },
	END };
static const struct takes takes_drain[] = {
	{ OPT_WHY, false, "the reason, which status, and tasks that are refused, are told" },
	END };
static const struct takes takes_undrain[] = {
	{ OPT_ALL, false, "all GPUs that are drained" },
	END };
static const struct takes takes_health[] = { JSON,
	{ OPT_MARK, false, "no further container gets a GPU that is found sick; for root" },
	END };
static const struct takes takes_end[] = {
	{ OPT_DRY_RUN, false, "only say what would become of the container" },
	{ OPT_YES, false, "without asking" },
	END };
static const struct takes takes_metrics[] = { CONFIG_DIR,
	{ OPT_OUTPUT, false, "write it to this file; else it goes to stdout" },
	END };

static const struct takes takes_none[] = { END };

const struct command commands[] = {
	{ "check", "[DIR|FILE|- ...]", 0, SIZE_MAX, "judge gpuhelper.conf and the policies", takes_check, ctl_check },
	{ "explain", "", 0, 0, "which policy decides about a container, and why no other does", takes_explain, ctl_explain },
	{ "test", "FILE|-", 1, 1, "whether the policies decide as a file of requests expects", takes_test, ctl_test },
	{ "edit", "gpuhelper.conf|POLICY", 1, 1, "change a file of the configuration, checked before it counts", takes_edit,
	  ctl_edit },
	{ "show-config", "", 0, 0, "the settings and policies in force, with all defaults", takes_show, ctl_show_config },
	{ "devices", "", 0, 0, "the GPUs of this host and their nodes", takes_devices, ctl_devices },
	{ "tags", "", 0, 0, "the tags of a Concourse worker that has this host's GPUs", takes_devices, ctl_tags },
	{ "keys fetch", "[ISSUER_URL]", 0, 1, "fetch the keys with which tokens are verified", takes_fetch, ctl_keys_fetch },
	{ "keys show", "", 0, 0, "those keys, how old they are, and which can't be used", takes_show, ctl_keys_show },
	{ "keys import", "FILE|-", 1, 1, "put keys that came another way in their place", takes_import, ctl_keys_import },
	{ "keys place", "", 0, 0, "put fetched keys in their places", takes_place, ctl_keys_place },
	{ "status", "", 0, 0, "each GPU and who holds it, and who waits", takes_status, ctl_status },
	{ "drain", "GPU", 1, 1, "take a GPU out of service: no further container gets it", takes_drain, ctl_drain },
	{ "undrain", "[GPU]", 0, 1, "put it back into service", takes_undrain, ctl_undrain },
	{ "health", "", 0, 0, "whether the kernel says that a GPU is broken", takes_health, ctl_health },
	{ "end", "CONTAINER", 1, 1, "end a container that holds GPUs", takes_end, ctl_end },
	{ "metrics", "", 0, 0, "leases, waits, refusals and GPUs as numbers for Prometheus", takes_metrics, ctl_metrics },
	{ "reap", "", 0, 0, "end the leases that are over", takes_reap, ctl_reap },
	{ "reapply", "", 0, 0, "open leased nodes again that something has reset", takes_json, ctl_reapply },
	{ "cdi validate", "FILE|- ...", 1, SIZE_MAX, "whether CDI specs are valid, and safe for a helper of root's",
	  takes_validate, ctl_cdi_validate },
	{ "cdi list", "", 0, 0, "the CDI devices of this host, and where they are from", takes_list, ctl_cdi_list },
	{ "cdi inject", "CONFIG.json|-", 1, 1, "that config.json with these devices in it, on stdout", takes_inject,
	  ctl_cdi_inject },
	{ "cdi generate", "", 0, 0, "a CDI spec of this host's GPUs and their driver's files", takes_generate,
	  ctl_cdi_generate },
	{ "audit show", "[FILE|- ...]", 0, SIZE_MAX, "what the audit log tells, a line for each record", takes_audit,
	  ctl_audit_show },
	{ "audit verify", "[FILE ...]", 0, SIZE_MAX, "whether any record of the audit log was changed, removed or moved",
	  takes_verify, ctl_audit_verify },
	{ "audit follow", "[FILE]", 0, 1, "send each record on as it is written, to the journal or to syslog", takes_follow,
	  ctl_audit_follow },
	{ "report", "[FILE ...]", 0, SIZE_MAX, "who used the GPUs, and who was denied them, as a page to be looked at",
	  takes_report, ctl_report },
	{ "setup concourse", "", 0, 0, "have gpuhelper judge the containers of this host's Concourse worker", takes_setup,
	  ctl_setup_concourse },
	{ "setup containerd", "", 0, 0, "have gpuhelper judge the containers of this host's own containerd",
	  takes_setup_engine, ctl_setup_containerd },
	{ "setup podman", "", 0, 0, "have gpuhelper judge the containers of podman, root's and the users'", takes_setup_podman,
	  ctl_setup_podman },
	{ "setup docker", "", 0, 0, "have gpuhelper judge the containers of this host's docker", takes_setup_engine,
	  ctl_setup_docker },
	{ "doctor", "", 0, 0, "each step from the engine to the GPUs: ok, warn or fail", takes_doctor, ctl_doctor },
	{ "help", "[COMMAND]", 0, 2, "what a subcommand is for, and its options", takes_json, help_print },
	{ "complete", "-- [WORD ...]", 0, SIZE_MAX, "what could stand where the last of these words is, for shells",
	  takes_none, ctl_complete },
	{ "version", "", 0, 0, "which version this is", takes_json, ctl_version },
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

/* What they could have meant; of a group, the words that may follow. */
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
	char name[80];
	size_t i;

	*used = group && words > 1 ? 2 : 1;
	snprintf(name, sizeof(name), "%.39s%s%.39s", word[0], *used == 2 ? " " : "", *used == 2 ? word[1] : "");
	for (i = 0; i < commands_n; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	(void)refuse_words(name, group ? word[0] : NULL, why);
	return NULL;
}
