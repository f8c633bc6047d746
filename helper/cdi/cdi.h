/*
 * CDI specs: Container Device Interface, cdiVersion 0.3.0 to 1.1.0
 * (github.com/cncf-tags/container-device-interface, SPEC.md and specs-go 1.1.0).
 *
 * Stricter than the reference library (pkg/cdi) where the library is lax: the case of a key counts, null is not a
 * value, a number in JSON is not a string, nothing may follow the document, and no device may use a feature that the
 * version lacks.
 */
#ifndef GPUHELPER_CDI_CDI_H
#define GPUHELPER_CDI_CDI_H

#include "../base/text.h"
#include "cdifault.h"
#include "cdiname.h"

#define CDI_TEXT_MAX (1024 * 1024)
enum cdi_format { CDI_JSON, CDI_YAML };

struct cdi_i64 { bool set; int64_t v; };
struct cdi_u32 { bool set; uint32_t v; };

/* Strings that a spec may leave out are NULL then. */
struct cdi_devnode {
	char *path, *host_path;
	char type;			/* 'b', 'c', 'u' (as c), 'p', or 0 */
	char *permissions;		/* of "rwm", or "none" */
	struct cdi_i64 major, minor;	/* not set: 0 in the reference library */
	struct cdi_u32 mode, uid, gid;
	uint32_t line, column;		/* of the object in the text; so below */
};

struct cdi_mount {
	char *host_path, *container_path, *type;
	struct strlist options;
	uint32_t line, column;
};

enum cdi_hook_name { CDI_PRESTART, CDI_CREATE_RUNTIME, CDI_CREATE_CONTAINER, CDI_START_CONTAINER, CDI_POSTSTART,
	CDI_POSTSTOP, CDI_HOOKS };
extern const char *const cdi_hook_names[CDI_HOOKS + 1];

struct cdi_hook {
	enum cdi_hook_name when;
	char *path;
	struct strlist args, env;
	struct cdi_i64 timeout;		/* seconds */
	uint32_t line, column;
};

struct cdi_rdt {
	char *clos_id, *l3_schema, *mb_schema;
	struct strlist schemata;
	bool monitoring;
};

struct cdi_netdev {
	char *host, *name;
};

struct cdi_edits {
	struct strlist env;		/* "NAME=value" */
	struct cdi_devnode *node;
	size_t nodes;
	struct cdi_mount *mount;
	size_t mounts;
	struct cdi_hook *hook;
	size_t hooks;
	struct cdi_netdev *netdev;
	size_t netdevs;
	struct cdi_rdt *rdt;		/* NULL: none */
	uint32_t *gid;
	size_t gids;
	uint32_t gids_line, gids_column;
};

struct cdi_annotations {
	struct strlist key, value;
};

struct cdi_device {
	char *name;
	struct cdi_annotations annotations;
	struct cdi_edits edits;
};

struct cdi_spec {
	char *version;			/* as it is written */
	char *kind;			/* "vendor.com/class" */
	struct cdi_annotations annotations;
	struct cdi_device *device;
	size_t devices;
	struct cdi_edits edits;		/* for each container that gets any of the devices */
	bool empty;			/* its list of devices is empty. CDI calls that invalid */
};

void cdi_free(struct cdi_spec *s);
#define autocdi __attribute__((cleanup(cdi_free)))

/*
 * These say why a path or a device must not be given to a container, or NULL. Pass a source's real path and a
 * node's real numbers: cdi_parse() sees only what the text says.
 */
const char *cdi_host_control(const char *path);
const char *cdi_host_own(const char *path);	/* may be mounted, but not writable */
const char *cdi_host_node(const char *path);
const char *cdi_host_device(char type, int64_t major, int64_t minor);

/* True for the few mount options that drivers need. Others may be orders to some engine or runtime. */
bool cdi_option_known(const char *option);
/* True for a bind mount, by type («bind», «none» or no type) or by option. Other mounts contain no file of the host. */
bool cdi_mount_is_bind(const struct cdi_mount *m);
/* What is wrong with the mount's path in the container, or NULL. */
const char *cdi_target_wrong(const struct cdi_mount *m);
/* True if the mount's options ask for writing. */
bool cdi_mount_writable(const struct cdi_mount *m);

/*
 * A group whose members can become root, and the reason, as a text that follows the group's number in a
 * message.
 */
struct cdi_group {
	uint32_t gid;
	char is[400];
};

/*
 * Adds to *f, as CDI_WARNING, nodes of no known GPU driver, writable mounts, and hooks that are no known
 * vendor's, except where *f has a worse fault. For a spec that cdi_parse() accepted.
 */
void cdi_warn(const struct cdi_spec *s, struct cdi_faults *f);

/* Gets the format from a file's name: .json or .yaml, in lower case. False for other names. */
bool cdi_format_of(const char *name, enum cdi_format *format);

/* The kind of a spec, which may be invalid; "" if it is not known. */
const char *cdi_kind_of(const struct cdi_spec *s);

#endif
