/*
 * See ledger.h. Works beneath /run/gpuhelper only, which is root's. Must fail at what it can't understand, and never
 * pass over it.
 */
#include "ledger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/process/process.h"
#include "../../host/trust.h"
#include "../self/state.h"

#define LEDGER GPUHELPER_RUNDIR "/ledger"
#define NODES_MAX 4096	/* device nodes of GPUs */

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

/* Reads a file. 1: it lacks this key, or is gone, or of another boot. ledger_node_free() in either case. */
static int
load(int dir, const char *name, const char *key, struct ledger_node *out, struct why *why)
{
	autofree char *text = NULL;
	char shown[sizeof(LEDGER) + 64], own[LEDGER_NAME_SIZE];
	const char *boot;
	enum trust_found found;
	size_t len;

	snprintf(shown, sizeof(shown), LEDGER "/%.48s", name);
	if ((found = trust_find_text(dir, name, shown, LEDGER_FILE_MAX, true, &text, &len, why)) != TRUST_FOUND)
		return found == TRUST_ABSENT || found == TRUST_REPLACED ? 1 : -1;
	if (key != NULL && strstr(text, key) == NULL)
		return 1;
	if (ledger_decode(text, len, out, why) == -1)
		return why->code == WHY_CONFIG ? refuse_file(shown, why) : refuse_within(why, shown);
	ledger_name(out->major, out->minor, own);
	if (strcmp(name, own) != 0)
		return refuse_file(shown, why);
	if ((boot = this_boot(why)) == NULL)
		return -1;
	if (strcmp(out->boot, boot) == 0)
		return 0;
	return state_remove(dir, name) == 0 ? 1 : refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
}

int
ledger_read(const char *path, uint32_t major, uint32_t minor, struct ledger_node *out, struct why *why)
{
	const int dir = ledger_dir(why);
	char name[LEDGER_NAME_SIZE];
	int ret;

	*out = LEDGER_NODE_EMPTY;
	ledger_name(major, minor, name);
	if (dir == -1 || (ret = load(dir, name, NULL, out, why)) == -1)
		return -1;
	if (ret == 0)
		return strcmp(out->path, path) == 0 ? 0 : refuse(why, WHY_CONFIG,
		    LEDGER "/%s is of %s, not of %s: two nodes have one number: remove one of them", name, out->path, path);
	ledger_node_free(out);
	out->major = major;
	out->minor = minor;
	snprintf(out->path, sizeof(out->path), "%s", path);
	return 0;
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
	ledger_name(n->major, n->minor, name);
	if (n->entries == 0)
		return state_remove(dir, name) == 0 ? 0 : refuse(why, WHY_IO, LEDGER "/%s: %s", name, strerror(errno));
	if ((text = ledger_encode(n)) == NULL)
		return refuse_nomem(why);
	if (strlen(text) > LEDGER_FILE_MAX)
		return refuse(why, WHY_AGAIN, "%s: too many containers have access of their own to it", n->path);
	return state_write(dir, name, text, 0600, why);
}

int
ledger_each(const char *key, ledger_use *use, void *ctx, struct why *why)
{
	autostrlist struct strlist names = { 0 };
	const int dir = ledger_dir(why);
	int ret = 0, loaded;
	size_t i;

	if (dir == -1 || state_list(dir, LEDGER, NODES_MAX, &names, why) == -1)
		return -1;
	for (i = 0; i < names.n; i++) {
		autoledgernode struct ledger_node n = LEDGER_NODE_EMPTY;

		/* a file with a dot in its name holds nothing: its writer died before it renamed the file */
		if (strchr(names.v[i], '.') != NULL)
			(void)unlinkat(dir, names.v[i], 0);
		else if ((loaded = load(dir, names.v[i], key, &n, why)) == -1)
			ret = -1;
		else if (loaded == 0 && use(ctx, &n, why) == -1)
			ret = -1;
	}
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
