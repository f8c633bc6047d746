/*
 * CDI specs: Container Device Interface, cdiVersion 0.3.0 to 1.1.0
 * (github.com/cncf-tags/container-device-interface, SPEC.md and specs-go 1.1.0).
 *
 * Stricter than the reference library (pkg/cdi) where that is lax: keys are
 * case-exact, a null is no value, a number no string, one document and nothing
 * after it, and what a version lacks is looked for in every device.
 */
#ifndef GPUHELPER_PURE_CDI_H
#define GPUHELPER_PURE_CDI_H

#include "cdifault.h"
#include "text.h"

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
};

void cdi_free(struct cdi_spec *s);
#define autocdi __attribute__((cleanup(cdi_free)))

/*
 * What must not be given out, by the path that a source really has, and by a
 * node's real numbers: cdi_parse() sees only what the text says.  NULL: nothing.
 */
const char *cdi_host_control(const char *path);
const char *cdi_host_own(const char *path);	/* is only not to be written */
const char *cdi_host_node(const char *path);
const char *cdi_host_device(char type, int64_t major, int64_t minor);

/* Is it one of the few options of a mount that drivers need?  Other words are orders to some engine or runtime. */
bool cdi_option_known(const char *option);
/* Other types than «bind» and «none» bring no file of the host. */
bool cdi_mount_is_bind(const struct cdi_mount *m);
/* What is wrong with where it is to be in a container, which is a path; NULL: nothing. */
const char *cdi_target_wrong(const struct cdi_mount *m);
/* Is the mount to be written by its own word? */
bool cdi_mount_writable(const struct cdi_mount *m);

/* A group of a host whose members are as good as root there, and why: what is said of it after its number. */
struct cdi_group {
	uint32_t gid;
	char is[400];
};

/*
 * Adds to *f, as CDI_WARNING, nodes of no known GPU driver, mounts to write in and hooks that are no known vendor's,
 * but for what *f has something worse of.  For a spec that cdi_parse() took.
 */
void cdi_warn(const struct cdi_spec *s, struct cdi_faults *f);

/* By a file's name: what ends in .json is JSON, in .yaml YAML, exactly so.  False: neither. */
bool cdi_format_of(const char *name, enum cdi_format *format);

/* "vendor.com/class=name", all three well-formed (pkg/parser/parser.go)? */
bool cdi_name_is_qualified(const char *name);
/* The parts of names: a letter first, then A-Za-z0-9_.- and for a device :, a letter or digit last. */
bool cdi_vendor_or_class_ok(const char *s, size_t len);
bool cdi_device_name_ok(const char *s);

#endif
