/* gpuhelperctl: what its subcommands share. */
#ifndef GPUHELPER_CTL_CTL_H
#define GPUHELPER_CTL_CTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "../pure/text.h"
#include "../pure/why.h"

/* What stands in front of the OCI runtime. */
#define WRAPPER GPUHELPER_BINDIR "/gpuhelper-runc"

/* The command line, read; all strings are argv's. */
struct options {
	const char *config_dir;		/* GPUHELPER_CONFDIR where not given */
	bool elsewhere;			/* it was given */
	bool json, verbose, strict, dry_run;
	const char *bundle, *user, *pipeline, *job, *identity, *issuer, *gpus, *folders, *instance_vars;
	const char *token_file, *at;
	const char *output_dir, *cacert, *from;
	const char *spec_dirs;
	const char *vendor, *output, *root;
	bool host, rocm_libs, mps;
	const char *worker_dir;
	bool undo, tags, image, rootless, watch, all, yes, mark;
	const char *reason, *to, *state;
	const char *since, *until;
	bool denied;
	const char *devices_file, *head, *against;
	const char **device;		/* each --device */
	size_t devices;
	const char **instance_var;	/* each --instance-var */
	size_t instance_var_count;
	char **arg;			/* words after the subcommand, in their order */
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

/* 0 if the helper can be asked, and answers. */
int ctl_helper_answers(struct why *why);

/* What «status --json» prints (a new reference); NULL with *why. */
json_t *helper_status(struct why *why);
/* The leases that this user may see, as «status --json» has them (a new reference); NULL where there are none. */
json_t *leases_now(void);

/*
 * Reads a file that the command line names, "-" for standard input; a pipe is
 * fine.  NULL with *why, too if it has more than max bytes.  Terminated; the
 * caller frees.
 */
char *ctl_read_input(const char *path, size_t max, size_t *len, struct why *why);

/*
 * Replaces the file «name» in the directory «dir» at once and as a whole, mode
 * 0644; «shown» is its name in messages.  modified: its time, NULL for now.  -1
 * with *why, and nothing has changed.
 */
int ctl_write_file(int dir, const char *name, const char *shown, const char *text, size_t len,
    const struct timespec *modified, struct why *why);
/* The same, but a file that is there keeps its group and mode: an administrator's own. */
int ctl_change_file(int dir, const char *name, const char *shown, const char *text, size_t len, struct why *why);
/*
 * The same for the file that --output names, in a directory that is there; mode 0640 where it is «closed», else 0644.
 * -1 with *why, too, where a directory, a device or a symbolic link has that name.
 */
int ctl_write_output(const char *path, bool closed, const char *text, size_t len, struct why *why);

/*
 * Which directory is meant: *path (the caller frees) is fit for etc.h, *strict
 * is true for GPUHELPER_CONFDIR itself, under whatever name.  -1 with *why where
 * there is no such directory.
 */
int ctl_config_dir(const char *given, char **path, bool *strict, struct why *why);

/* One line on stdout; whatever could play with a terminal becomes '?'. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* «gpuhelperctl: ...» on stderr; returns the code. */
int complain(enum why_code code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for a reason that is the end of a subcommand: with --json, stdout gets it as an object too. */
int give_up(const struct options *o, const struct why *why);
/* The same for a wrong command line. */
int misuse(const struct options *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* {"error", "code"}, which is all that a program gets of a failure; the caller prints or keeps it. */
json_t *error_json(const struct why *why);

/* The text of a member; "" where there is none. */
const char *get_text(const json_t *object, const char *key);
/* The list as an array, as it is; what is no UTF-8 is left out. */
json_t *strings_json(const struct strlist *l);
/* Adds a string made printable; nothing for NULL. */
void put_text(json_t *object, const char *key, const char *text);
/* Prints and frees it. */
void put_out(json_t *j);
/* Names of the capabilities in the mask. */
json_t *capability_names(unsigned mask);
/* The strings of an array, «, » between them, cut to fit. */
void join(const json_t *strings, char *out, size_t size);

#endif
