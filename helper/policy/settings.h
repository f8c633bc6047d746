/* /etc/gpuhelper/gpuhelper.conf: settings of this host, for all policies. */
#ifndef GPUHELPER_POLICY_SETTINGS_H
#define GPUHELPER_POLICY_SETTINGS_H

#include "../base/text.h"
#include "../lease/leasetasks.h"
#include "claimset.h"

/* Where a container gets the driver's user-space files from. */
enum driver_files {
	DRIVER_FILES_AUTO,		/* from the CDI spec with the GPU's node, if there is one; else the image */
	DRIVER_FILES_CDI,		/* from that spec, which must exist */
	DRIVER_FILES_NONE,		/* from the image */
	DRIVER_FILES_VENDOR_RUNTIME,	/* from a vendor's runtime below, told by variables what was granted */
};

enum privileged { PRIVILEGED_DENY, PRIVILEGED_HIDE_GPUS, PRIVILEGED_ALLOW };
/* The refusal under PRIVILEGED_DENY. */
#define PRIVILEGED_DENIED "privileged containers are not allowed on this host (privileged = \"deny\" in gpuhelper.conf)"

/* How the wrapper reaches the helper. */
enum door_setting {
	DOOR_AUTO,		/* over the socket if it is there, else by the setuid bit */
	DOOR_BY_SOCKET,
	DOOR_BY_SETUID,
};

/* Which claims of an issuer's tokens say what. NULL: as in Concourse's tokens. */
struct issuer_claims {
	char *team, *pipeline, *job;	/* names of claims; a pipeline without a team: its claim has both (judge/token.h) */
	struct claim_set require;	/* every token must have these */
	char *reuse_by;			/* tokens with one value of this claim may serve several containers, one at a time */
	unsigned bytes;			/* the longest token; 0: TOKEN_BYTES (claims.h) */
	struct strlist wanted;		/* what the policies ask about: names of claims (read/conf/wanted.h) */
};

/* An issuer of tokens (judge/token.h). */
struct issuer_setting {
	unsigned line;
	char *url, *audience;
	char *keys;			/* path of its JWKS, which only root can write */
	char *keys_host;		/* HOST or HOST:PORT of its jwks_uri, for gpuhelperctl alone; NULL: as in url */
	unsigned max_age;		/* seconds after signing that a token is accepted */
	unsigned keys_max_age;		/* seconds after fetching that the keys are used; 0: for ever */
	bool token_reuse;			/* a token may be used for several containers */
	char *variable;			/* the environment variable that has the token; NULL: GPUHELPER_TOKEN */
	struct issuer_claims claims;
};
void issuer_setting_free(struct issuer_setting *i);

#define ISSUERS_MAX 32
#define TEAM_SHARES_MAX 256
#define TEAM_SHARE_MAX 1000

struct settings {
	char *runtime;			/* absolute path of the OCI runtime below; NULL: the first "runc" in PATH */
	struct strlist volumes;		/* where root filesystems may be, besides the bundle */
	enum privileged privileged;
	enum driver_files driver_files;
	bool cdi_hooks;			/* run the hooks of CDI specs */
	bool respect_allocation;	/* a workload manager's variables bound the worker's GPUs */
	enum door_setting door;
	bool grant_unasked;		/* a «caller» policy may grant to containers that ask for nothing */
	bool allow_integrated;		/* integrated GPUs may be granted */
	bool unenforced;		/* grant exclusively even if no device cgroup can enforce it */
	bool audit_plain;		/* record plain containers, too */
	bool plain_container;		/* a plain container without an SELinux label gets container_t */
	unsigned max_wait;		/* seconds; limits every policy's wait */
	struct strlist placeholder_init;	/* programs that only pause as a container's process 1 (leasetasks.h) */
	enum idle_setting idle;
	struct strlist task_execs;	/* ids of the execs that are tasks: they take the promised GPUs (leasetasks.h) */
	unsigned left_behind;		/* seconds, or LEFT_BEHIND_KEEP */
	struct issuer_setting *issuer;
	size_t issuers;
	struct strlist team_shares;	/* "TEAM=PARTS" (usage.h); empty: of waiting teams, the order of arrival decides */
	bool several_issuers;		/* two or more: a policy that requires a token must say whose */
};

void settings_free(struct settings *s);
#define autosettings __attribute__((cleanup(settings_free)))

#endif
