/* See vetting.h. Runs as the host's root. Looks at the host without opening a device, a file or a folder for use. */
#include "vetting.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../host/cdisource.h"
#include "../host/driverfiles.h"
#include "../host/file.h"
#include "../host/furtherlook.h"
#include "../host/selinux.h"
#include "../host/trust.h"
#include "../host/users.h"
#include "../pure/cleanup.h"
#include "../pure/grant.h"
#include "../pure/path.h"
#include "../pure/vet.h"
#include "answers.h"
#include "memfile.h"

/* How the table looks at the host. */

/*
 * True for a GPU or another accelerator: NVIDIA's driver lists it, or its class says so (PCI Code and ID Assignment
 * Specification, base classes 03h and 12h).
 */
static bool
is_accelerator(const char *pci)
{
	autofree char *class = NULL;
	autoclose int fd = -1;
	char file[64];
	size_t len;

	snprintf(file, sizeof(file), "/proc/driver/nvidia/gpus/%s", pci);
	if (access(file, F_OK) == 0)
		return true;
	snprintf(file, sizeof(file), "/sys/bus/pci/devices/%s/class", pci);
	if ((fd = open(file, O_RDONLY | O_CLOEXEC)) == -1 || (class = memfile_read(fd, 64, &len)) == NULL)
		return false;
	return text_starts(class, "0x03") || text_starts(class, "0x12");
}

static bool
see_node(void *host, const char *path, struct edit_node *node, struct further_node *what)
{
	char real[PATH_MAX];
	struct why ignored;
	struct stat st;
	bool roots;

	(void)host;
	if (cdi_find_source(path, real, &st, &roots, &ignored) == -1 || strcmp(real, path) != 0 || !S_ISCHR(st.st_mode))
		return false;
	node->major = major(st.st_rdev);
	node->minor = minor(st.st_rdev);
	node->mode = st.st_mode & 0666U;
	node->uid = st.st_uid;
	node->gid = st.st_gid;
	*what = further_look(node->major, node->minor);
	if (what->pci[0] != '\0' && !is_accelerator(what->pci))
		what->pci[0] = '\0';
	return true;
}

static bool
see_file(void *host, const char *path, struct vet_file *f)
{
	struct why ignored;
	struct stat st;

	(void)host;
	if (cdi_find_source(path, f->real, &st, &f->roots, &ignored) == -1)
		return false;
	f->plain = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
	f->socket = S_ISSOCK(st.st_mode);
	f->program = S_ISREG(st.st_mode) && (st.st_mode & 0111) != 0;
	f->mps = driver_is_mps_dir(f->real, &st);
	return true;
}

static bool
see_folder(void *host, const char *path)
{
	autofree char *dir = strndup(path, (size_t)(path_last(path) - path));
	autoclose int parent = -1;
	struct why ignored;
	struct stat st;

	(void)host;
	if (dir == NULL)
		return false;
	if (strlen(dir) > 1)
		dir[strlen(dir) - 1] = '\0';
	return trust_find_place(dir, true, &parent, &ignored) == TRUST_FOUND &&
	    fstatat(parent, path_last(path), &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* What root's files give. */

/* The policy that grants, which must list root. */
static const struct policy *
find_policy(const struct policy_set *all, const char *name, struct why *why)
{
	autofree char *user = user_name(0);
	const struct asker root = { .uid = 0, .user = user, .member = true, .enforced = true };
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->v[i].broken == NULL && strcmp(all->v[i].policy.name, name) == 0)
			return policy_lists(&all->v[i].policy, &root, why) ? &all->v[i].policy : NULL;
	refuse(why, WHY_AGAIN, "policy %.200s granted the container and is gone or broken now: try again", name);
	return NULL;
}

/* The usable specs' parts, in an array that the caller frees. NULL if memory is short. */
static struct vet_source *
sources_of(const struct cdi_registry *r, size_t *n)
{
	struct vet_source *v;
	size_t i, k, most = 0;

	for (i = 0; i < r->files; i++)
		most += r->file[i].usable ? 1 + r->file[i].spec.devices : 0;
	if ((v = calloc(most + 1, sizeof(*v))) == NULL)
		return NULL;
	*n = 0;
	for (i = 0; i < r->files; i++) {
		const bool safe = r->file[i].faults.unsafe_hooks == 0;
		const struct cdi_spec *s = &r->file[i].spec;

		if (!r->file[i].usable)
			continue;
		v[(*n)++] = (struct vet_source){ &s->edits, safe };
		for (k = 0; k < s->devices; k++)
			v[(*n)++] = (struct vet_source){ &s->device[k].edits, safe };
	}
	return v;
}

/* Specs matter for grants of GPUs alone. */
static bool
needs_specs(const struct edits *e)
{
	size_t i;

	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].driver)
			return true;
	return e->nodes > 0 || e->hooks > 0;
}

int
vetting_check(const struct reply *reply, const struct request *r, const struct settings *s,
    const struct devmajors *majors, struct why *why)
{
	struct vet v = { .edits = &reply->edits, .request = r, .settings = s, .majors = majors,
		.look = { see_node, see_file, see_folder, NULL } };
	autocdiregistry struct cdi_registry specs = { .files = 0 };
	autopolicyset struct policy_set policies = { .n = 0 };
	autofree struct vet_source *source = NULL;
	enum selinux_state selinux;

	if (answers_policies(&policies, why) == -1 || (v.policy = find_policy(&policies, reply->policy, why)) == NULL)
		return -1;
	if (needs_specs(v.edits) && answers_specs(&specs, why) == -1)
		return -1;
	if ((v.source = source = sources_of(&specs, &v.sources)) == NULL)
		return refuse_nomem(why);
	if (selinux_state(&selinux, why) == -1)
		return -1;
	v.enforcing = selinux == SELINUX_ENFORCING;
	return vet_edits(&v, why);
}
