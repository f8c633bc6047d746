/* /etc/gpuhelper/gpuhelper.conf: what holds for this host, whatever the policies say. */
#ifndef GPUHELPER_PURE_SETTINGS_H
#define GPUHELPER_PURE_SETTINGS_H

#include "pausing.h"
#include "text.h"

/* Who brings the driver's user-space files into a container. */
enum driver_files {
	DRIVER_FILES_AUTO,		/* the CDI spec that has the GPU's node, where there is one; else its image */
	DRIVER_FILES_CDI,		/* that spec, and there must be one */
	DRIVER_FILES_NONE,		/* its image */
	DRIVER_FILES_VENDOR_RUNTIME,	/* a vendor's runtime below us, told by variables what was granted */
};

enum privileged { PRIVILEGED_DENY, PRIVILEGED_HIDE_GPUS, PRIVILEGED_ALLOW };

/* How the helper is asked. */
enum door_setting {
	DOOR_AUTO,		/* over the socket if it is there, else by the setuid bit */
	DOOR_BY_SOCKET,
	DOOR_BY_SETUID,
};

/* Who signs tokens (see judge/token.h). */
struct issuer_setting {
	unsigned line;
	char *url, *audience;
	char *keys;			/* path of its JWKS, a file of root's */
	unsigned max_age;		/* seconds from its signing on that a token is taken */
	unsigned keys_max_age;		/* seconds from fetching on that the keys are taken; 0: for ever */
	bool reuse;			/* several containers may come with one token */
};

#define ISSUERS_MAX 32

struct settings {
	char *runtime;			/* absolute path of the OCI runtime below; NULL: first "runc" in PATH */
	struct strlist volumes;		/* where root filesystems may lie, besides the bundle */
	enum privileged privileged;
	enum driver_files driver_files;
	bool cdi_hooks;			/* programs that a CDI spec wants run are run */
	bool respect_allocation;	/* what a workload manager left in the worker's environment bounds its GPUs */
	enum door_setting door;
	bool grant_unasked;		/* a «caller» policy may grant to containers that ask for nothing */
	bool allow_integrated;		/* integrated GPUs count */
	bool unenforced;		/* grant exclusively even where no device cgroup can hold it */
	bool audit_plain;		/* record plain containers too */
	bool plain_container;		/* a plain container without an SELinux label gets container_t */
	unsigned max_wait;		/* seconds; caps every policy's wait */
	struct strlist placeholder_init;	/* programs that only pause as process 1 of a container (pausing.h) */
	enum idle_setting idle;
	unsigned first_exec;		/* seconds */
	unsigned left_behind;		/* seconds, or LEFT_BEHIND_KEEP */
	struct issuer_setting *issuer;
	size_t issuers;
};

/* What holds where there is no file, or the file is silent. */
bool settings_default(struct settings *s);

void settings_free(struct settings *s);
#define autosettings __attribute__((cleanup(settings_free)))

#endif
