/*
 * See policyanswer.h. Asks the policy beforehand, so that a refusal can say what is wrong; the kernel enforces it
 * afterwards. Changes nothing: the helper relabels nodes, relabel.c folders.
 */
#include "policyanswer.h"

#include <errno.h>
#include <string.h>

#include "loaded.h"
#include "newlabel.h"

static int
cant_ask(struct why *why)
{
	return refuse(why, WHY_IO, "SELinux can't be asked: %s: is the module gpuhelper loaded (make install-selinux)?",
	    strerror(errno));
}

static int
answer_valid(const struct label_query *a, struct label_answer *out)
{
	char object[SECONTEXT_MAX];
	int yes;

	memcpy(out->label, a->who, sizeof(out->label));
	memcpy(object, a->object, sizeof(object));
	if ((yes = loaded_has(out->label)) == 1 && (yes = loaded_has(object)) == 0)
		memcpy(out->label, object, sizeof(out->label));
	return yes == -1 ? cant_ask(&out->why) : yes;
}

static int
refuse_folder(const struct label_query *a, const struct secontext *who, const char *has, struct why *why)
{
	struct secontext c;

	/* suggests no command to run now: another container may be using the folder */
	if (secontext_parse(has, &c) && strcmp(c.type, SECONTEXT_FILE_TYPE) == 0 && level_categories(c.level) > 0)
		return refuse(why, WHY_DENIED, "folder %s is labelled for one container alone (%s): once that container is "
		    "gone, «relabel» in the policy or restorecon -RF %s opens it", a->path, c.level, a->path);
	return refuse(why, WHY_DENIED, "folder %s: SELinux does not let %s (%s) %s files labelled %s: semanage fcontext -a "
	    "-t " SECONTEXT_FILE_TYPE " '%s(/.*)?' && restorecon -RF %s", a->path, who->type, who->level,
	    a->use == LABEL_WRITE_FOLDER ? "write" : "read", has, a->path, a->path);
}

static int
refuse_node(const struct label_query *a, const struct secontext *who, const char *has, struct why *why)
{
	return refuse(why, WHY_DENIED, "%s: SELinux does not let %s (%s) use a node labelled %s: restorecon -vF %s "
	    "restores its own label; else let the type use it (gpuhelper_use_devices, make install-selinux), or name "
	    "another type in the policy", a->path, who->type, who->level, has, a->path);
}

/* Makes the label that a folder gets. 1, or -1 with *why. */
static int
relabel_folder(const struct label_query *a, const struct secontext *who, char out[SECONTEXT_MAX], struct why *why)
{
	if (newlabel_of_file(a->object, a->relabel, who->level, out))
		return 1;
	return refuse(why, WHY_IO, "folder %s has the invalid SELinux label \"%.100s\": restorecon -RF %s", a->path,
	    a->object, a->path);
}

/* The same for a node. 0: it is to stay as it is, because the loaded policy lacks the label. */
static int
relabel_node(const struct label_query *a, const struct secontext *who, char out[SECONTEXT_MAX], struct why *why)
{
	int valid;

	if (!newlabel_of_node(a->object, who->level, out))
		return refuse(why, WHY_IO, "%s has the invalid SELinux label \"%.100s\": restorecon -vF %s", a->path, a->object,
		    a->path);
	if ((valid = loaded_has(out)) == -1)
		return cant_ask(why);
	/* our module is not loaded, and nothing is enforced, or the container does not use this node */
	if (valid == 1 || !a->enforcing || a->use == LABEL_NO_USE)
		return valid;
	return refuse(why, WHY_CONFIG, "%s can't be labelled %s: the SELinux module gpuhelper is not loaded: make "
	    "install-selinux", a->path, out);
}

static int
answer_use(const struct label_query *a, char gets[SECONTEXT_MAX], struct why *why)
{
	const bool folder = a->use == LABEL_READ_FOLDER || a->use == LABEL_WRITE_FOLDER;
	struct secontext who;
	int ret = 1;

	if (!secontext_parse(a->who, &who))
		return refuse(why, WHY_BUG, "\"%.100s\" is not an SELinux label", a->who);
	memcpy(gets, a->object, SECONTEXT_MAX);
	if (a->relabel != RELABEL_NO)
		ret = folder ? relabel_folder(a, &who, gets, why) : relabel_node(a, &who, gets, why);
	if (ret != 1 || a->use == LABEL_NO_USE)
		return ret;
	if ((ret = loaded_lets_use(a->who, gets, a->use)) == -1)
		return cant_ask(why);
	if (ret == 1 || !a->enforcing)
		return 1;
	return folder ? refuse_folder(a, &who, gets, why) : refuse_node(a, &who, gets, why);
}

int
policy_answer(const struct label_query *a, struct label_answer *out)
{
	return a->verb == LABEL_IS_VALID ? answer_valid(a, out) : answer_use(a, out->label, &out->why);
}
