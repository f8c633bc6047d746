/*
 * See request.h.  The encoder runs with the caller's rights, the decoder as
 * root on bytes that the caller chose.
 */
#include "request.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdi.h"
#include "cleanup.h"
#include "mig.h"
#include "path.h"
#include "policy.h"
#include "strictjson.h"
#include "wire.h"

#define ID_MAX 255		/* a file name's: runtimes make directories of them */
#define PATH_MAX_ASKED 1024
#define GPUS_ASKED_MAX 256

static const char *const verbs[] = { "grant", "look", "refused", "plain", "status", "release", "reapply",
	"created", "exec" };

static json_t *
pack_idmap(const struct idmap *m)
{
	json_t *j = m->identity ? json_null() : json_array();
	size_t i;

	for (i = 0; !m->identity && i < m->n; i++)
		json_array_append_new(j, json_pack("[I,I,I]", (json_int_t)m->v[i].inside,
		    (json_int_t)m->v[i].outside, (json_int_t)m->v[i].size));
	return j;
}

/* A file as "major:minor:inode"; NULL where there is none. */
static const char *
file_text(const struct request *r, char out[64])
{
	const struct file_id *f = &r->init_file;

	if (r->init_path == NULL)
		return NULL;
	snprintf(out, 64, "%u:%u:%llu", f->major, f->minor, (unsigned long long)f->inode);
	return out;
}

char *
request_encode(const struct request *r)
{
	json_t *gids, *shut, *j;
	char file[64];
	size_t i;

	strictjson_watch();
	gids = json_array();
	for (i = 0; i < r->gid_count; i++)
		json_array_append_new(gids, json_integer(r->gid_list[i]));
	shut = json_array();
	for (i = 0; i < r->shut.n; i++)
		json_array_append_new(shut, json_string(r->shut.v[i]));
	j = json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:I, s:I, s:o, s:b, s:b, s:o, s:b, s:s*, s:s*, s:s*, s:s*, s:s*, "
	    "s:s*, s:s*, s:s*, s:s*, s:s*, s:s*, s:s*, s:s*, s:s*, s:o*}",
	    "verb", verbs[r->verb], "id", r->id, "runtime_root", r->runtime_root, "cgroups_path", r->cgroups_path,
	    "systemd_cgroup", r->systemd_cgroup, "uids", pack_idmap(&r->uids), "gids", pack_idmap(&r->gids),
	    "uid", (json_int_t)r->uid, "gid", (json_int_t)r->gid, "groups", gids,
	    "dac_override", r->dac_override, "privileged", r->privileged, "shut", shut, "no_chores", r->no_chores,
	    "init_path", r->init_path, "init_file", file_text(r, file), "token", r->token,
	    "team", r->team, "pipeline", r->pipeline, "job", r->job, "instance_vars", r->instance_vars,
	    "gpus", r->gpus, "folders", r->folders, "cuda_visible", r->cuda_visible, "rocr_visible", r->rocr_visible,
	    "reason", r->reason, "label", r->label, "mount_label", r->mount_label,
	    "at_once", r->at_once ? json_true() : NULL);
	return strictjson_text(j);
}

static bool
to_id(const json_t *j, uint32_t *out)
{
	json_int_t v = json_integer_value(j);

	if (!json_is_integer(j) || v < 0 || v >= (json_int_t)UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

static int
unpack_idmap(json_t *j, struct idmap *m, struct why *why)
{
	json_t *range;
	size_t i;

	if (json_is_null(j)) {
		m->identity = true;
		return 0;
	}
	if (!json_is_array(j) || json_array_size(j) > IDMAP_MAX)
		return refuse(why, WHY_DATA, "request: id mappings are malformed");
	json_array_foreach(j, i, range) {
		if (json_array_size(range) != 3 || !to_id(json_array_get(range, 0), &m->v[i].inside) ||
		    !to_id(json_array_get(range, 1), &m->v[i].outside) ||
		    !to_id(json_array_get(range, 2), &m->v[i].size))
			return refuse(why, WHY_DATA, "request: id mappings are malformed");
		m->n++;
	}
	return 0;
}

static int
unpack_groups(json_t *j, struct request *r, struct why *why)
{
	json_t *gid;
	size_t i;

	if (!json_is_array(j))
		return refuse(why, WHY_DATA, "request: a group is malformed");
	if (json_array_size(j) > REQUEST_GIDS_MAX)
		return refuse(why, WHY_DATA, "request: more than %d supplementary groups", REQUEST_GIDS_MAX);
	json_array_foreach(j, i, gid) {
		if (!to_id(gid, &r->gid_list[i]))
			return refuse(why, WHY_DATA, "request: a group is malformed");
		r->gid_count++;
	}
	return 0;
}

static int
copy_text(char **out, const char *from, size_t max, const char *name, struct why *why)
{
	if (from == NULL)
		return 0;
	if (strlen(from) > max)
		return refuse(why, WHY_DATA, "request: %s is longer than %zu bytes", name, max);
	if ((*out = strdup(from)) == NULL)
		return refuse_nomem(why);
	return 0;
}

/* An id ends up in file names' hashes, logs and cgroup names: what runc takes for one, and no more. */
static int
check_id(const char *id, struct why *why)
{
	size_t n = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-.");

	if (n == 0 || id[n] != '\0' || strcmp(id, ".") == 0 || strcmp(id, "..") == 0)
		return refuse(why, WHY_DATA, "container id \"%.80s\" is not one that runc would take", id);
	return 0;
}

/* In UTF-8, those of C1 too. */
static bool
has_control(const char *s)
{
	const unsigned char *p;

	for (p = (const unsigned char *)s; *p != '\0'; p++)
		if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f))
			return true;
	return false;
}

/* Both are written into leases, where a control character takes six bytes. */
static int
check_paths(const char *root, const char *cgroup, struct why *why)
{
	if (has_control(root))
		return refuse(why, WHY_DATA, "--root has a control character");
	if (root[0] != '\0' && root[0] != '/')
		return refuse(why, WHY_DATA, "--root \"%.80s\" is not an absolute path", root);
	if (has_control(cgroup))
		return refuse(why, WHY_DATA, "linux.cgroupsPath has a control character");
	return 0;
}

/* What file_text() wrote. */
static int
unpack_file(const char *text, struct file_id *out, struct why *why)
{
	autofree char *copy = text != NULL ? strdup(text) : NULL;
	char *minor, *inode;

	if (text == NULL)
		return 0;
	if (copy == NULL)
		return refuse_nomem(why);
	if ((minor = strchr(copy, ':')) == NULL || (inode = strchr(minor + 1, ':')) == NULL)
		return refuse(why, WHY_DATA, "request: init_file is malformed");
	*minor++ = '\0';
	*inode++ = '\0';
	if (!text_u32(copy, 0, UINT32_MAX, &out->major) || !text_u32(minor, 0, UINT32_MAX, &out->minor) ||
	    !text_u64(inode, UINT64_MAX, &out->inode))
		return refuse(why, WHY_DATA, "request: init_file is malformed");
	return 0;
}

static int
unpack_shut(const json_t *j, struct request *r, struct why *why)
{
	const json_t *key;
	size_t i;

	if (!json_is_array(j) || json_array_size(j) > REQUEST_SHUT_MAX)
		return refuse(why, WHY_DATA, "request: shut is not a list of at most %d leases", REQUEST_SHUT_MAX);
	json_array_foreach(j, i, key) {
		if (json_string_length(key) != 64)
			return refuse(why, WHY_DATA, "request: shut holds what is no lease");
		if (!strlist_add(&r->shut, json_string_value(key), SIZE_MAX))
			return refuse_nomem(why);
	}
	return 0;
}

/* In our words: jansson's are others in each version. */
static int
refuse_form(const json_error_t *err, struct why *why)
{
	switch (json_error_code(err)) {
	case json_error_item_not_found:
		return refuse(why, WHY_DATA, "request: a member is missing");
	case json_error_wrong_type:
		return refuse(why, WHY_DATA, "request: a member is of the wrong type");
	case json_error_end_of_input_expected:
		return refuse(why, WHY_DATA, "request: a member too many");
	default:
		return refuse(why, WHY_DATA, "request: is malformed");
	}
}

static int
unpack(json_t *j, struct request *r, struct why *why)
{
	const char *verb, *id, *root, *cgroup, *token = NULL, *team = NULL, *pipeline = NULL, *job = NULL;
	const char *vars = NULL, *gpus = NULL, *folders = NULL, *reason = NULL, *cuda = NULL, *rocr = NULL,
	    *label = NULL, *mount = NULL, *init = NULL, *file = NULL;
	json_t *uids, *gids, *groups, *uid, *gid, *shut;
	int systemd, dac, privileged, no_chores, at_once = 0;
	json_error_t err;
	size_t i;

	if (json_unpack_ex(j, &err, JSON_STRICT,
	    "{s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:b, s?s, s?s, s?s, s?s, s?s, s?s, s?s, s?s, "
	    "s?s, s?s, s?s, s?s, s?s, s?s, s?b}",
	    "verb", &verb, "id", &id, "runtime_root", &root, "cgroups_path", &cgroup, "systemd_cgroup", &systemd,
	    "uids", &uids, "gids", &gids, "uid", &uid, "gid", &gid, "groups", &groups, "dac_override", &dac,
	    "privileged", &privileged, "shut", &shut, "no_chores", &no_chores, "init_path", &init,
	    "init_file", &file, "token", &token, "team", &team, "pipeline", &pipeline, "job", &job,
	    "instance_vars", &vars, "gpus", &gpus, "folders", &folders, "cuda_visible", &cuda,
	    "rocr_visible", &rocr, "reason", &reason, "label", &label, "mount_label", &mount,
	    "at_once", &at_once) == -1)
		return refuse_form(&err, why);
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verb, verbs[i]) == 0)
			break;
	if (i == sizeof(verbs) / sizeof(verbs[0]))
		return refuse(why, WHY_DATA, "request: unknown verb \"%.40s\"", verb);
	r->verb = (enum verb)i;
	if (!to_id(uid, &r->uid) || !to_id(gid, &r->gid))
		return refuse(why, WHY_DATA, "request: the process's uid or gid is out of range");
	r->systemd_cgroup = systemd;
	r->dac_override = dac;
	r->privileged = privileged;
	r->no_chores = no_chores;
	r->at_once = at_once;
	if ((init == NULL) != (file == NULL))
		return refuse(why, WHY_DATA, "request: init_path and init_file belong together");
	if (check_id(id, why) == -1 || check_paths(root, cgroup, why) == -1 || unpack_idmap(uids, &r->uids, why) == -1 ||
	    unpack_idmap(gids, &r->gids, why) == -1 || unpack_groups(groups, r, why) == -1 ||
	    unpack_file(file, &r->init_file, why) == -1 || unpack_shut(shut, r, why) == -1 ||
	    copy_text(&r->init_path, init, 4096, "init_path", why) == -1 || copy_text(&r->id, id, ID_MAX, "id", why) == -1 ||
	    copy_text(&r->runtime_root, root, PATH_MAX_ASKED, "runtime_root", why) == -1 ||
	    copy_text(&r->cgroups_path, cgroup, PATH_MAX_ASKED, "cgroups_path", why) == -1 ||
	    copy_text(&r->token, token, 16384, "token", why) == -1 ||
	    copy_text(&r->team, team, 1024, "team", why) == -1 ||
	    copy_text(&r->pipeline, pipeline, 1024, "pipeline", why) == -1 ||
	    copy_text(&r->job, job, 1024, "job", why) == -1 ||
	    copy_text(&r->instance_vars, vars, 65536, "instance_vars", why) == -1 ||
	    copy_text(&r->gpus, gpus, 16384, "gpus", why) == -1 ||
	    copy_text(&r->folders, folders, 131072, "folders", why) == -1 ||
	    copy_text(&r->cuda_visible, cuda, 4096, "cuda_visible", why) == -1 ||
	    copy_text(&r->rocr_visible, rocr, 4096, "rocr_visible", why) == -1 ||
	    copy_text(&r->label, label, 1024, "label", why) == -1 ||
	    copy_text(&r->mount_label, mount, 1024, "mount_label", why) == -1 ||
	    copy_text(&r->reason, reason, 2048, "reason", why) == -1)
		return -1;
	return 0;
}

int
request_decode(const char *text, size_t len, struct request *r, struct why *why)
{
	json_t *j;
	int ret;

	*r = (struct request){ 0 };
	if ((j = wire_parse(text, len, why)) == NULL)
		return -1;
	ret = unpack(j, r, why);
	json_decref(j);
	return ret;
}

void
request_free(struct request *r)
{
	if (r->token != NULL)
		explicit_bzero(r->token, strlen(r->token));
	free(r->id);
	free(r->runtime_root);
	free(r->cgroups_path);
	free(r->token);
	free(r->team);
	free(r->pipeline);
	free(r->job);
	free(r->instance_vars);
	free(r->gpus);
	free(r->folders);
	free(r->cuda_visible);
	free(r->rocr_visible);
	free(r->label);
	free(r->mount_label);
	free(r->init_path);
	free(r->reason);
	strlist_free(&r->shut);
	*r = (struct request){ 0 };
}

/* A PCI address, or that of a MIG instance: with ":GI" or ":GI:CI" after it. */
static bool
is_address(const char *word)
{
	char base[64], pci[16];

	if (pci_address_normalise(word, pci))
		return true;
	return (size_t)snprintf(base, sizeof(base), "%s", word) < sizeof(base) && mig_name_shorten(base) &&
	    (pci_address_normalise(base, pci) || (mig_name_shorten(base) && pci_address_normalise(base, pci)));
}

/* One word of GPUHELPER_GPUS. */
static int
ask_gpu(const char *word, struct ask *a, struct why *why)
{
	struct ask_count *c = &a->count[a->counts];
	const char *number = word, *colon = strchr(word, ':');
	char vendor[16];
	uint32_t n;

	if (strcmp(word, "all") == 0) {
		a->all_gpus = true;
		return 0;
	}
	*c = (struct ask_count){ 0 };
	if (colon != NULL && (size_t)(colon - word) < sizeof(vendor)) {
		memcpy(vendor, word, (size_t)(colon - word));
		vendor[colon - word] = '\0';
		if (gpu_vendor_parse(vendor, &c->vendor)) {
			c->has_vendor = true;
			number = colon + 1;
		}
	}
	if (text_u32(number, 1, 64, &n)) {
		if (++a->counts == sizeof(a->count) / sizeof(a->count[0]))
			return refuse(why, WHY_DATA, "GPUHELPER_GPUS has too many counts");
		c->n = n;
		return 0;
	}
	if (!c->has_vendor && (text_starts(word, "GPU-") || text_starts(word, "0x") || text_starts(word, "MIG-") ||
	    is_address(word) || cdi_name_is_qualified(word))) {
		if (strlist_has(&a->gpu_ids, word))
			return refuse(why, WHY_DATA, "GPUHELPER_GPUS names \"%s\" twice", word);
		return strlist_add(&a->gpu_ids, word, SIZE_MAX) ? 0 : refuse_nomem(why);
	}
	return refuse(why, WHY_DATA, "GPUHELPER_GPUS: \"%s\" is no count (1 to 64), VENDOR:COUNT, \"all\", \"none\", UUID, "
	    "PCI address or CDI device", word);
}

/* One word of GPUHELPER_FOLDERS. */
static int
ask_one_folder(const char *word, struct ask *a, struct why *why)
{
	const char *colon = strrchr(word, ':');
	enum ask_access access = ASK_ANY;
	struct ask_folder *v;
	struct why inner;
	char *path;

	if (strcmp(word, "all") == 0) {
		a->all_folders = true;
		return 0;
	}
	if (colon != NULL && strcmp(colon, ":ro") == 0)
		access = ASK_RO;
	else if (colon != NULL && strcmp(colon, ":rw") == 0)
		access = ASK_RW;
	else
		colon = NULL;
	if ((path = strndup(word, colon != NULL ? (size_t)(colon - word) : strlen(word))) == NULL)
		return refuse_nomem(why);
	if (path_check(path, &inner) == -1 || glob_is(path)) {
		refuse(why, WHY_DATA, "GPUHELPER_FOLDERS: %s", glob_is(path) ? "* and ? are not for asking" : inner.text);
		free(path);
		return -1;
	}
	if ((v = reallocarray(a->folder, a->folders + 1, sizeof(*v))) == NULL) {
		free(path);
		return refuse_nomem(why);
	}
	a->folder = v;
	a->folder[a->folders++] = (struct ask_folder){ .path = path, .access = access };
	return 0;
}

/* Each word between commas. */
static int
each_word(const char *text, const char *name, unsigned most, int (*fn)(const char *, struct ask *, struct why *),
    struct ask *a, struct why *why)
{
	const char *p = text, *end;
	unsigned words = 0;

	if (strcmp(text, "none") == 0)
		return 0;
	for (;; p = end + 1) {
		autofree char *word = NULL;

		end = strchrnul(p, ',');
		if (end == p)
			return refuse(why, WHY_DATA, "%s is empty or has an empty entry: say \"none\" for none", name);
		if (++words > most)
			return refuse(why, WHY_DATA, "%s has more than %u entries", name, most);
		if ((word = strndup(p, (size_t)(end - p))) == NULL)
			return refuse_nomem(why);
		if (fn(word, a, why) == -1)
			return -1;
		if (*end == '\0')
			return 0;
	}
}

int
ask_parse(const char *gpus, const char *folders, struct ask *out, struct why *why)
{
	*out = (struct ask){ .everything = gpus == NULL && folders == NULL };
	if (gpus != NULL && each_word(gpus, "GPUHELPER_GPUS", GPUS_ASKED_MAX, ask_gpu, out, why) == -1)
		return -1;
	if (out->all_gpus && (out->counts > 0 || out->gpu_ids.n > 0))
		return refuse(why, WHY_DATA, "GPUHELPER_GPUS: \"all\" stands alone");
	if (folders != NULL && each_word(folders, "GPUHELPER_FOLDERS", CONTAINER_FOLDERS_MAX, ask_one_folder, out, why) == -1)
		return -1;
	if (out->all_folders && out->folders > 0)
		return refuse(why, WHY_DATA, "GPUHELPER_FOLDERS: \"all\" stands alone");
	return 0;
}

/* «GPU-» and the unique id's 16 digits, as ROCm writes it: kfd's number. */
static bool
is_rocr_name(const char *word)
{
	return text_starts(word, "GPU-") && strlen(word) == 20 && strspn(word + 4, "0123456789abcdefABCDEF") == 16;
}

static int
bound_word(struct gpu_bound *b, enum gpu_vendor vendor, const char *word, const char *variable, struct why *why)
{
	char name[64];
	uint32_t rank;

	if (vendor == GPU_AMD && is_rocr_name(word)) {
		snprintf(name, sizeof(name), "0x%s", word + 4);
		word = name;
	} else if (!text_u32(word, 0, 4095, &rank) && !(vendor == GPU_NVIDIA && strlen(word) == 40 &&
	    (text_starts(word, "GPU-") || text_starts(word, "MIG-"))))
		return refuse(why, WHY_DATA, "%s in the worker's environment: \"%.60s\" is neither a number nor a whole UUID, "
		    "so what the worker may have is not known (respect_allocation in gpuhelper.conf)", variable, word);
	return strlist_add(&b->names, word, SIZE_MAX) ? 0 : refuse_nomem(why);
}

int
ask_bound(struct ask *a, enum gpu_vendor vendor, const char *text, struct why *why)
{
	const char *variable = vendor == GPU_AMD ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES", *end;
	struct gpu_bound *b = &a->bound[vendor];

	if (text == NULL)
		return 0;
	b->set = true;
	if (*text == '\0' || strcmp(text, "-1") == 0 || strcmp(text, "NoDevFiles") == 0)
		return 0;
	for (;; text = end + 1) {
		autofree char *word = NULL;

		end = strchrnul(text, ',');
		if ((word = strndup(text, (size_t)(end - text))) == NULL)
			return refuse_nomem(why);
		if (bound_word(b, vendor, word, variable, why) == -1)
			return -1;
		if (*end == '\0')
			return 0;
	}
}

bool
ask_wants_gpus(const struct ask *a)
{
	return a->everything || a->all_gpus || a->counts > 0 || a->gpu_ids.n > 0;
}

void
ask_free(struct ask *a)
{
	size_t i;

	for (i = 0; i < a->folders; i++)
		free(a->folder[i].path);
	free(a->folder);
	strlist_free(&a->gpu_ids);
	for (i = 0; i < GPU_VENDORS; i++)
		strlist_free(&a->bound[i].names);
	*a = (struct ask){ 0 };
}
