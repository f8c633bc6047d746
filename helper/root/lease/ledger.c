/*
 * See ledger.h. Works beneath /run/gpuhelper only, which is root's. Must fail at what it can't understand, and never
 * pass over it.
 */
#include "ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/process/process.h"
#include "../../host/trust.h"
#include "../self/state.h"

#define LEDGER GPUHELPER_RUNDIR "/ledger"
#define NODES_MAX 4096	/* device nodes of GPUs */

/* The nodes that were read under the lock. */
static struct {
	struct ledger_node **v;
	size_t n;
	bool all;	/* no file is left that was not read */
} known;

void
ledger_forget(void)
{
	size_t i;

	for (i = 0; i < known.n; i++) {
		ledger_node_free(known.v[i]);
		free(known.v[i]);
	}
	free(known.v);
	known.v = NULL;
	known.n = 0;
	known.all = false;
}

/* Opened once: a grant reads the entries of several nodes. -1 with *why. */
static int
ledger_dir(struct why *why)
{
	static int dir = -1;

	if (dir == -1)
		dir = state_dir("ledger", why);
	return dir;
}

/* NULL with *why: it can't be read. */
static const char *
this_boot(struct why *why)
{
	static char boot[40];

	if (boot[0] != '\0' || boot_id(boot))
		return boot;
	refuse(why, WHY_IO, "/proc/sys/kernel/random/boot_id: %s", strerror(errno));
	return NULL;
}

static int
refuse_file(const char *shown, struct why *why)
{
	return refuse(why, WHY_CONFIG, "%s is not a node of this version's ledger: no GPU with that node is given out while "
	    "it is there (make sure that no container uses the node, then remove the file and the node's ACL: setfacl -b)",
	    shown);
}

/* Reads a file. 1: it is gone, or of another boot. *out has no entry then, and with -1. */
static int
load(int dir, const char *name, struct ledger_node *out, struct why *why)
{
	autofree char *text = NULL;
	char shown[sizeof(LEDGER) + LEDGER_NAME_SIZE], own[LEDGER_NAME_SIZE];
	enum trust_found found;
	const char *boot;
	size_t len;

	snprintf(shown, sizeof(shown), LEDGER "/%.95s", name);
	if ((found = trust_find_text(dir, name, shown, LEDGER_FILE_MAX, true, &text, &len, why)) != TRUST_FOUND)
		return found == TRUST_ABSENT || found == TRUST_REPLACED ? 1 : -1;
	if (ledger_decode(text, len, out, why) == -1)
		return why->code == WHY_CONFIG ? refuse_file(shown, why) : refuse_within(why, shown);
	ledger_name(out->path, out->major, out->minor, own);
	boot = this_boot(why);
	if (boot != NULL && strcmp(name, own) == 0 && strcmp(out->boot, boot) == 0)
		return 0;
	ledger_node_free(out);
	if (boot == NULL)
		return -1;
	return strcmp(name, own) != 0 ? refuse_file(shown, why) : state_remove(dir, name) == 0 ? 1 : refuse(why, WHY_IO,
	    "%s: %s", shown, strerror(errno));
}

/* Keeps a node, whose entries are known.v's then. NULL: memory is short, and the node is freed. */
static struct ledger_node *
keep(struct ledger_node *n)
{
	struct ledger_node **v = reallocarray(known.v, known.n + 1, sizeof(struct ledger_node *));

	if (v != NULL)
		known.v = v;
	if (v == NULL || (v[known.n] = malloc(sizeof(*n))) == NULL) {
		ledger_node_free(n);
		return NULL;
	}
	*v[known.n] = *n;
	return v[known.n++];
}

/* By the name of its file: two paths can have the same. */
static struct ledger_node *
find_known(const char *name)
{
	char own[LEDGER_NAME_SIZE];
	size_t i;

	for (i = 0; i < known.n; i++) {
		ledger_name(known.v[i]->path, known.v[i]->major, known.v[i]->minor, own);
		if (strcmp(own, name) == 0)
			return known.v[i];
	}
	return NULL;
}

/* Reads the node's file, if there is one. NULL with *why. */
static struct ledger_node *
load_and_keep(const char *name, const char *path, uint32_t major, uint32_t minor, struct why *why)
{
	struct ledger_node n = LEDGER_NODE_EMPTY, *kept;
	const int dir = ledger_dir(why);
	int ret = 1;

	if (dir == -1 || (!known.all && (ret = load(dir, name, &n, why)) == -1))
		return NULL;
	if (ret == 1) {
		n.major = major;
		n.minor = minor;
		snprintf(n.path, sizeof(n.path), "%s", path);
	}
	if ((kept = keep(&n)) == NULL)
		refuse_nomem(why);
	return kept;
}

struct ledger_node *
ledger_read(const char *path, uint32_t major, uint32_t minor, struct why *why)
{
	char name[LEDGER_NAME_SIZE];
	struct ledger_node *n;

	ledger_name(path, major, minor, name);
	if ((n = find_known(name)) == NULL && (n = load_and_keep(name, path, major, minor, why)) == NULL)
		return NULL;
	if (strcmp(n->path, path) == 0)
		return n;
	refuse(why, WHY_CONFIG, "%s and %s have one name in " LEDGER ": remove one of the nodes", n->path, path);
	return NULL;
}

int
ledger_write(struct ledger_node *n, struct why *why)
{
	const int dir = ledger_dir(why);
	const char *boot = this_boot(why);
	autofree char *text = NULL;
	char name[LEDGER_NAME_SIZE];

	if (dir == -1 || boot == NULL)
		return -1;
	snprintf(n->boot, sizeof(n->boot), "%s", boot);
	ledger_name(n->path, n->major, n->minor, name);
	if (n->entries == 0)
		return state_remove(dir, name) == 0 ? 0 : refuse(why, WHY_IO, LEDGER "/%s: %s", name, strerror(errno));
	if ((text = ledger_encode(n)) == NULL)
		return refuse_nomem(why);
	if (strlen(text) > LEDGER_FILE_MAX)
		return refuse(why, WHY_AGAIN, "%s: too many containers have access of their own to it", n->path);
	return state_write(dir, name, text, strlen(text), 0600, why);
}

/* Reads the files that were not read yet. A file that can't be read is tried again next time. */
static int
read_all(struct why *why)
{
	autostrlist struct strlist names = { 0 };
	const int dir = ledger_dir(why);
	struct ledger_node n;
	int ret = 0, loaded;
	size_t i;

	if (dir == -1 || state_list(dir, LEDGER, NODES_MAX, &names, why) == -1)
		return -1;
	for (i = 0; i < names.n; i++) {
		n = LEDGER_NODE_EMPTY;
		/* a file with a dot in its name holds nothing: its writer died before it renamed the file */
		if (strchr(names.v[i], '.') != NULL)
			(void)unlinkat(dir, names.v[i], 0);
		else if (find_known(names.v[i]) == NULL && ((loaded = load(dir, names.v[i], &n, why)) == -1 ||
		    (loaded == 0 && keep(&n) == NULL && refuse_nomem(why) == -1)))
			ret = -1;
	}
	known.all = ret == 0;
	return ret;
}

static bool
has_key(const struct ledger_node *n, const char *key)
{
	size_t i;

	for (i = 0; i < n->entries; i++)
		if (strcmp(n->entry[i].key, key) == 0)
			return true;
	return false;
}

int
ledger_each(const char *key, ledger_use *use, void *ctx, struct why *why)
{
	int ret = known.all ? 0 : read_all(why);
	size_t i;

	for (i = 0; i < known.n; i++)
		if ((key == NULL || has_key(known.v[i], key)) && use(ctx, known.v[i], why) == -1)
			ret = -1;
	return ret;
}

static int
note_found(void *ctx, struct ledger_node *n, struct why *why)
{
	(void)n;
	(void)why;
	*(bool *)ctx = true;
	return 0;
}

bool
ledger_has(const char *key)
{
	bool found = false;
	struct why ignored;

	return ledger_each(key, note_found, &found, &ignored) == -1 || found;
}
