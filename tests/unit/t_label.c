/*
 * root/node/label.c: what the helper believes gpuhelper-label about a node. SELinux and the program are replaced here;
 * vm/jobs/selinux.sh has the real ones.
 */
#include "host/selinux.h"
#include "root/child/labeller.h"
#include "root/node/label.h"
#include "tap.h"

#define HAD "u:object_r:xserver_misc_device_t:s0"
#define OWN "u:object_r:gpuhelper_device_t:s0:c1,c2"

static struct label l = { .text = "u:r:nvidia_container_t:s0:c1,c2" };
static struct label_query asked;
static const char *has;
static const char *label;
static int yes;

int
selinux_state(enum selinux_state *out, struct why *why)
{
	(void)why;
	*out = l.state;
	return 0;
}

bool
selinux_label_of(int fd, char out[SECONTEXT_MAX])
{
	(void)fd;
	snprintf(out, SECONTEXT_MAX, "%s", has);
	return true;
}

int
labeller_ask(const struct label_query *a, char out[SECONTEXT_MAX], struct why *why)
{
	asked = *a;
	snprintf(out, SECONTEXT_MAX, "%s", label);
	return yes != -1 ? yes : refuse(why, WHY_DENIED, "no");
}

/* «labelled LABEL», «as it is», or the code of the refusal. */
static const char *
node(enum label_use use, bool alone, int answer, const char *says)
{
	const struct change on = { .kind = CHANGE_LABEL, .path = "/dev/nvidia0" };
	static char out[SECONTEXT_MAX + 32];
	struct changes changes = { .n = 0 };
	struct why why = { 0 };

	yes = answer;
	label = says;
	if (label_node(&l, -1, &on, use, alone, &changes, &why) == -1)
		snprintf(out, sizeof(out), "refused: %d", why.code);
	else
		snprintf(out, sizeof(out), "%s%s", changes.n > 0 ? "labelled " : "as it is", changes.n > 0 ? changes.v->label :
		    "");
	changes_free(&changes);
	return out;
}

static void
alone(void)
{
	has = HAD;
	is_str(node(LABEL_USE_NODE, true, 1, OWN), "labelled " OWN, "a node of one container gets our label");
	ok(asked.verb == LABEL_LETS && asked.relabel == RELABEL_PRIVATE && asked.use == LABEL_USE_NODE && asked.enforcing == 1,
	    "the program is asked about that");
	is_str(node(LABEL_NO_USE, true, 1, OWN), "labelled " OWN, "also if the container does not use it");
	is_str(node(LABEL_USE_NODE, true, -1, ""), "refused: 77", "a refusal is one");
	is_str(node(LABEL_USE_NODE, true, 1, HAD), "refused: 70", "it may not keep the label that it has");
	is_str(node(LABEL_NO_USE, true, 1, HAD), "refused: 70", "nor if the container does not use it");
	is_str(node(LABEL_USE_NODE, true, 1, "u:object_r:shadow_t:s0:c1,c2"), "refused: 70", "nor get another type");
	is_str(node(LABEL_USE_NODE, true, 1, "u:object_r:gpuhelper_device_t:s0"), "refused: 70", "nor a wider level");
	is_str(node(LABEL_USE_NODE, true, 1, "u:object_r:gpuhelper_device_t:s0:c1,c3"), "refused: 70", "nor another one's");
	is_str(node(LABEL_USE_NODE, true, 1, "v:object_r:gpuhelper_device_t:s0:c1,c2"), "refused: 70", "nor another user");
	is_str(node(LABEL_USE_NODE, true, 1, "u:system_r:gpuhelper_device_t:s0:c1,c2"), "refused: 70", "nor another role");
	is_str(node(LABEL_USE_NODE, true, 1, "none"), "refused: 70", "nor what is no label");
	is_str(node(LABEL_USE_NODE, true, 0, OWN), "refused: 70", "nor stay as it is");
	is_str(node(LABEL_NO_USE, true, 0, OWN), "as it is", "that it may if the container does not use it");
	has = OWN;
	is_str(node(LABEL_USE_NODE, true, 1, OWN), "as it is", "a node that has our label keeps it");
}

static void
shared(void)
{
	has = HAD;
	is_str(node(LABEL_READ_NODE, false, 1, HAD), "as it is", "a shared node keeps its label");
	ok(asked.relabel == RELABEL_NO && asked.use == LABEL_READ_NODE, "the program is asked about that");
	is_str(node(LABEL_READ_NODE, false, 1, OWN), "refused: 70", "it may not get our label");
}

int
main(void)
{
	l.state = SELINUX_ENFORCING;
	ok(secontext_parse(l.text, &l.process), "the container has a label");
	alone();
	shared();
	l.state = SELINUX_PERMISSIVE;
	is_str(node(LABEL_USE_NODE, true, 0, ""), "as it is", "permissive: a node may stay as it is without our module");
	ok(asked.enforcing == 0, "the program is told");
	l.state = SELINUX_ABSENT;
	is_str(node(LABEL_USE_NODE, true, -1, ""), "as it is", "without SELinux nobody is asked");
	return done_testing();
}
