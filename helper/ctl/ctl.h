/* Declarations that gpuhelperctl's subcommands share. */
#ifndef GPUHELPER_CTL_CTL_H
#define GPUHELPER_CTL_CTL_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "../base/text.h"
#include "../base/why.h"

/* The wrapper, which engines run in the place of the OCI runtime. */
#define WRAPPER GPUHELPER_BINDIR "/gpuhelper-runc"

/* «s», where a noun of so many needs one */
#define S_OF(n) ((n) == 1 ? "" : "s")

/* The parsed command line.  All strings belong to argv. */
struct options {
	const char *config_dir;		/* default: GPUHELPER_CONFDIR */
	bool elsewhere;			/* --config-dir was given */
	bool json, verbose, strict, dry_run;
	const char *bundle, *user, *pipeline, *job, *identity, *issuer, *gpus, *folders, *instance_vars, *claims;
	const char *token_file, *at;
	const char *output_dir, *cacert, *from;
	const char *spec_dirs;
	const char *vendor, *output, *root, *driver_root;
	const char **library_path;	/* each --library-path */
	size_t library_paths;
	bool host, rocm_libs, mps;
	const char *worker_dir;
	bool undo, tags, image, rootless, watch, all, yes, mark;
	const char *reason, *to, *state;
	const char *since, *until;
	bool denied, partial;
	const char *devices_file, *head, *against;
	const char **device;		/* each --device */
	size_t devices;
	const char **instance_var;	/* each --instance-var */
	size_t instance_var_count;
	char **arg;			/* the words after the subcommand */
	size_t args;
};

/* The subcommands; each returns the exit status. */
int ctl_check(const struct options *o);
int ctl_explain(const struct options *o);
int ctl_show_config(const struct options *o);
int ctl_test(const struct options *o);
int ctl_edit(const struct options *o);
int ctl_devices(const struct options *o);
int ctl_tags(const struct options *o);
int ctl_keys_fetch(const struct options *o);
int ctl_keys_show(const struct options *o);
int ctl_keys_import(const struct options *o);
int ctl_keys_place(const struct options *o);
int ctl_status(const struct options *o);
int ctl_drain(const struct options *o);
int ctl_undrain(const struct options *o);
int ctl_health(const struct options *o);
int ctl_end(const struct options *o);
int ctl_metrics(const struct options *o);
int ctl_metrics_gather(const struct options *o);
int ctl_metrics_place(const struct options *o);
int ctl_reap(const struct options *o);
int ctl_reapply(const struct options *o);
int ctl_cdi_validate(const struct options *o);
int ctl_cdi_list(const struct options *o);
int ctl_cdi_inject(const struct options *o);
int ctl_cdi_generate(const struct options *o);
int ctl_audit_verify(const struct options *o);
int ctl_audit_follow(const struct options *o);
int ctl_audit_show(const struct options *o);
int ctl_report(const struct options *o);
int ctl_setup_concourse(const struct options *o);
int ctl_setup_containerd(const struct options *o);
int ctl_setup_podman(const struct options *o);
int ctl_setup_docker(const struct options *o);
int ctl_doctor(const struct options *o);
int ctl_complete(const struct options *o);
int ctl_version(const struct options *o);

/*
 * Reads a file that the command line names; "-" is standard input.  A pipe works too.  NULL with *why, also if the file
 * has more than max bytes.  The text ends with a NUL; the caller frees.
 */
char *ctl_read_input(const char *path, size_t max, size_t *len, struct why *why);

/*
 * Replaces the file «name» in the directory «dir» atomically; mode 0644.  «shown» is its name in messages.  «modified»
 * is the file's new time; NULL: now.  -1 with *why; then nothing has changed.
 */
int ctl_write_file(int dir, const char *name, const char *shown, const char *text, size_t len,
    const struct timespec *modified, struct why *why);
/* Likewise, but an existing file keeps its group and mode, which an administrator may have chosen. */
int ctl_change_file(int dir, const char *name, const char *shown, const char *text, size_t len, struct why *why);
/*
 * Likewise for the file that --output names; its directory must exist.  Mode 0640 if «closed», else 0644.  "-" is
 * stdout.  -1 with *why, also if the name is taken by a directory, a device or a symbolic link.
 */
int ctl_write_output(const char *path, bool closed, const char *text, size_t len, struct why *why);
/*
 * Likewise, mode 0644, for root where another user may change the directory: follows no symbolic link on the way there.
 * The path is absolute.
 */
int ctl_place_output(const char *path, const char *text, size_t len, struct why *why);
/*
 * Makes or replaces the file «name» in the directory of another user, who gets it: mode 0400.  -1 with *why; then
 * nothing has changed.
 */
int ctl_hand_over(int dir, const char *name, const char *shown, const char *text, size_t len, struct why *why);

/*
 * Resolves a configuration directory to *path, in the form that etc.h takes; the caller frees.  *strict is true if it
 * is GPUHELPER_CONFDIR, by whatever name.  -1 with *why if there is no such directory.
 */
int ctl_config_dir(const char *given, char **path, bool *strict, struct why *why);

/* The text that fmt makes, as printf(3) does, which the caller frees; NULL: memory is short. */
char *format_text(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
/* A copy with '?' in the place of bytes that could control a terminal; the caller frees.  NULL: memory is short. */
char *printable(const char *text);
/* Prints one line on stdout.  Replaces bytes that could control a terminal by '?'. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints «gpuhelperctl: ...» on stderr; returns the code. */
int complain(enum why_code code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Likewise, for the error that ends a subcommand: with --json, also prints it as an object on stdout. */
int give_up(const struct options *o, const struct why *why);
/* Likewise, for a wrong command line. */
int misuse(const struct options *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* {"error": TEXT, "code": NUMBER}: the whole JSON output of a failed subcommand.  The caller owns it. */
json_t *error_json(const struct why *why);

/* The text of a member; "" if the member is missing or no string. */
const char *get_text(const json_t *object, const char *key);
/* The list as an array of its strings, unescaped; leaves out strings that are not UTF-8. */
json_t *strings_json(const struct strlist *l);
/* Adds a member with the text made printable; adds nothing if text is NULL. */
void put_text(json_t *object, const char *key, const char *text);
/* Prints and frees the object. */
void put_out(json_t *j);
/* An array of the names of the GPU capabilities in the mask. */
json_t *capability_names(unsigned mask);
/* Writes the array's strings to out, separated by ", "; cuts them to fit. */
void join(const json_t *strings, char *out, size_t size);
/* True if the text ends with «end» and has more before it. */
bool ends_with(const char *text, const char *end);

#endif
