/*
 * See generate.h: writes a spec, and checks that CDI would use it.  If two files in one directory have the same device,
 * no engine uses that device (pkg/cdi/cache.go); so no spec is written beside one of nvidia-ctk.
 */
#include "../../base/pathshort.h"
#include "generate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/driver/cdidirs.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../../read/parse.h"
#include "cdi_validate.h"

bool
gen_many(const struct options *o)
{
	struct stat st;
	size_t len = o->output != NULL ? strlen(o->output) : 0;

	return len > 0 && (o->output[len - 1] == '/' || (stat(o->output, &st) == 0 && S_ISDIR(st.st_mode)));
}

/*
 * Splits --output into the directory, without links, and the file's name.  Creates the directory if it is missing.  The
 * caller frees both.
 */
static int
split_output(const struct generating *g, char **dir, char **name, struct why *why)
{
	const char *output = g->o->output, *slash = strrchr(output, '/');
	autofree char *given = NULL;
	autobuf struct buf file = { 0 };
	mode_t mode;

	if (gen_many(g->o)) {
		given = strdup(output);
		buf_printf(&file, "gpuhelper-%s.json", gpu_vendor_name(g->vendor));
	} else {
		given = slash == NULL ? strdup(".") : strndup(output, (size_t)(slash - output) + (slash == output));
		buf_puts(&file, slash != NULL ? slash + 1 : output);
	}
	if (given == NULL || file.failed)
		return refuse_nomem(why);
	if (file.len < 6 || strcmp(file.p + file.len - 5, ".json") != 0 || file.len > 200)
		return refuse(why, WHY_USAGE, "%.200s: the name of a CDI spec in JSON must end in .json", output);
	/* /run/cdi may not exist yet; its mode is that of gpuhelper.tmpfiles. chmod, because the umask may take bits away */
	mode = strcmp(given, "/run/cdi") == 0 ? 0711 : 0755;
	if (mkdir(given, mode) == 0 ? chmod(given, mode) == -1 : errno != EEXIST)
		return refuse(why, WHY_IO, "%.200s: %s", given, strerror(errno));
	if ((*dir = realpath(given, NULL)) == NULL)
		return refuse(why, WHY_IO, "%.200s: %s", given, strerror(errno));
	*name = buf_take(&file);
	return 0;
}

/*
 * Opens the directory.  Refuses if others than its owner, root or us, can write to it.  used: engines read specs from
 * it, so the directories above it must be safe too.
 */
static int
open_output_dir(const char *dir, bool used, struct why *why)
{
	struct stat st;
	int fd;

	if ((fd = trust_open_dir(dir, used, why)) == -1)
		return -1;
	if (fstat(fd, &st) == -1)
		refuse(why, WHY_IO, "%s: %s", dir, strerror(errno));
	else if (st.st_uid != 0 && st.st_uid != geteuid())
		refuse(why, WHY_CONFIG, "%s belongs to uid %u, who could change the spec: chown root it", dir, st.st_uid);
	else if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		refuse(why, WHY_CONFIG, "%s is writable by others (mode %04o): chmod go-w it", dir, st.st_mode & 07777U);
	else
		return fd;
	close(fd);
	return -1;
}

static bool
has_device(const struct cdi_spec *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->devices; i++)
		if (strcmp(s->device[i].name, name) == 0)
			return true;
	return false;
}

/* The name of a device that both specs have, or NULL. */
static const char *
common_device(const struct cdi_spec *ours, const struct cdi_spec *other)
{
	size_t i;

	if (strcmp(ours->kind, other->kind) != 0)
		return NULL;
	for (i = 0; i < ours->devices; i++)
		if (has_device(other, ours->device[i].name))
			return ours->device[i].name;
	return NULL;
}

/*
 * Looks for specs with a device of ours.  «own» is the path of our spec in «dir»; used: engines read specs from «dir».
 */
static int
check_conflicts(const struct generating *g, const char *dir, bool used, const char *own, struct why *why)
{
	autocdiregistry struct cdi_registry r = { 0 };
	char shown[PATH_SHOWN];
	const char *device;
	size_t i, len;

	if (cdi_registry_load(used ? CDI_DIRS : dir, false, specs_parse, &r, why) == -1)
		return -1;
	for (i = 0; i < r.files; i++) {
		const char *path = r.file[i].path;

		/* no engine uses an invalid spec, and its devices may lack their names */
		if (!r.file[i].usable || strcmp(path, own) == 0 || (device = common_device(&g->spec, &r.file[i].spec)) == NULL)
			continue;
		len = (size_t)(path_last(path) - path) - 1;
		if (!used)
			complain(WHY_NONE, "%s also has %s=%s: an engine that reads both files uses neither device", path,
			    g->spec.kind, device);
		else if (strlen(dir) == len && strncmp(dir, path, len) == 0)
			return refuse(why, WHY_CONFIG, "%s also has %s=%s, and with both files no engine would use that device: "
			    "use that file, or remove it and the units that make it (systemctl disable nvidia-cdi-refresh.path "
			    "nvidia-cdi-refresh.service)", path_short(path, shown, sizeof(shown)), g->spec.kind, device);
		else
			complain(WHY_NONE, "%s also has %s=%s: engines use the spec in /run/cdi", path, g->spec.kind, device);
	}
	return 0;
}

static bool
has_same_text(int dir, const char *name, const char *text)
{
	autoclose int fd = file_open_beneath(dir, name, O_RDONLY);
	autofree char *old = fd != -1 ? file_read_fd(fd, CDI_TEXT_MAX, NULL) : NULL;
	struct stat st;

	return old != NULL && strcmp(old, text) == 0 && fstat(fd, &st) == 0 && (st.st_mode & 07777U) == 0644 &&
	    (st.st_uid == 0 || st.st_uid == geteuid());
}

static void
tell_written(const struct generating *g, const char *path, bool changed)
{
	const struct cdi_spec *s = &g->spec;
	json_t *j;

	if (g->files == NULL && changed)
		say("%s: %s, %zu devices, %zu mounts", path, s->kind, s->devices, s->edits.mounts);
	else if (g->files == NULL)
		say("%s: %s, unchanged", path, s->kind);
	else {
		j = json_pack("{s:s, s:b, s:I, s:I}", "kind", s->kind, "changed", changed, "devices", (json_int_t)s->devices,
		    "mounts", (json_int_t)s->edits.mounts);
		put_text(j, "vendor", gpu_vendor_name(g->vendor));
		put_text(j, "file", path);
		json_array_append_new(g->files, j);
	}
}

int
gen_output(const struct generating *g, const char *text, struct why *why)
{
	autofree char *dir = NULL, *name = NULL;
	autobuf struct buf path = { 0 };
	autoclose int fd = -1;
	bool used;

	if (g->o->output == NULL || strcmp(g->o->output, "-") == 0) {
		fputs(text, stdout);
		return 0;
	}
	if (split_output(g, &dir, &name, why) == -1)
		return -1;
	if (dir == NULL || name == NULL)
		return refuse_nomem(why);
	buf_printf(&path, "%s%s%s", dir, strcmp(dir, "/") == 0 ? "" : "/", name);
	if (path.failed)
		return refuse_nomem(why);
	used = text_among(dir, cdi_live_dirs);
	if ((fd = open_output_dir(dir, used, why)) == -1 || check_conflicts(g, dir, used, path.p, why) == -1)
		return -1;
	if (has_same_text(fd, name, text)) {
		tell_written(g, path.p, false);
		return 0;
	}
	if (ctl_write_file(fd, name, path.p, text, strlen(text), NULL, why) == -1)
		return -1;
	tell_written(g, path.p, true);
	return 0;
}
