/*
 * The parts of a config.json (OCI runtime spec 1.x, config-linux.md) that this program reads, and their places in the
 * text.
 */
#ifndef GPUHELPER_USER_SPEC_SPEC_H
#define GPUHELPER_USER_SPEC_SPEC_H

#include <limits.h>

#include "../../json/doc.h"
#include "devrules.h"

struct spec_mount {
	uint32_t node;
	char *target, *source, *type;	/* source, type: NULL if absent */
	struct strlist options;
	bool bind;
	bool only_gpus;			/* has nothing but GPUs' nodes (nodes.h) */
	bool duplicate;			/* brings the same as a mount or node of the grant (duplicates.h) */
	bool removed;			/* the container does not get it, nor the same by a grant (removed.h) */
};

struct spec_device {
	uint32_t node;
	char *path;
	char type;
	int64_t major;			/* -1 if absent */
	bool removed;			/* as of a mount */
};

struct spec {
	struct doc doc;
	const char *bundle;		/* the caller's; relative paths of the host begin here; NULL: the current directory */
	/* nodes of the document; DOC_NONE if absent */
	uint32_t process, user, env, gids, mounts, linux, devices, resources, rules, masked, annotations, hooks;
	struct strlist env_text;	/* one for each element of env */
	struct spec_mount *mount;
	size_t mount_count;
	struct spec_device *device;
	size_t device_count;
	struct devrule *rule;
	size_t rule_count;
	char *root_path;		/* NULL if absent */
	char *first_arg;		/* process.args[0]; NULL if absent */
	char *cwd;			/* process.cwd; NULL if absent */
	char *cgroups_path;		/* "" if absent */
	char *label, *mount_label;	/* process.selinuxLabel, linux.mountLabel; NULL if absent or "" */
	bool user_namespace;		/* has a user namespace of its own */
	unsigned major;			/* of ociVersion; 0 if absent or not a number */
	struct strlist tokens;		/* besides GPUHELPER_TOKEN, what is taken out: set by spec_request() (specrequest.h) */
};

/*
 * Parses config.json. A part of the wrong type is refused by its name ("linux.devices[0].path"). Returns 0,
 * or -1 with *why. The caller calls spec_free() in any case; «text» must live as long as *s.
 */
int spec_parse(struct spec *s, const char *text, size_t len, struct why *why);
void spec_free(struct spec *s);
#define autospec __attribute__((cleanup(spec_free)))

/*
 * Makes a path of the host as the runtime takes it: relative ones begin in the bundle. False if it is too
 * long to be opened.
 */
bool spec_host_path(const struct spec *s, const char *path, char out[PATH_MAX]);

/* True for a mount of a new file system, of a kind that containers have: proc, a tmpfs. */
bool spec_mount_is_new(const struct spec_mount *m);

/* The only bind mount with exactly this destination; NULL if there is none or there are several. */
const struct spec_mount *spec_bind_at(const struct spec *s, const char *target);

/* The mount that a process sees at this path, if its target is spelled so; NULL: none. */
const struct spec_mount *spec_mount_at(const struct spec *s, const char *target);

/* True if the path is in linux.maskedPaths, in this spelling. */
bool spec_masks(const struct spec *s, const char *path);

/* The value of «NAME=value» if the entry has this name, else NULL. */
const char *env_value(const char *entry, const char *name);

#endif
