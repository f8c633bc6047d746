/*
 * label/newlabel.c: the labels that folders and nodes get for a container. root/node/label.c accepts no other one for a
 * node (vm/jobs/selinux.sh).
 */
#include "label/newlabel.h"
#include "tap.h"

static void
of_files(void)
{
	static const struct {
		const char *has;
		enum relabel how;
		const char *gets;
	} t[] = {
		{ "system_u:object_r:var_t:s0", RELABEL_SHARED, "system_u:object_r:container_file_t:s0" },
		{ "unconfined_u:object_r:var_t:s0", RELABEL_PRIVATE, "unconfined_u:object_r:container_file_t:s0:c1,c2" },
		{ "u:object_r:container_file_t:s0:c8,c9", RELABEL_SHARED, "u:object_r:container_file_t:s0" },
		{ "u:object_r:x_t:s0-s0:c0.c1023", RELABEL_PRIVATE, "u:object_r:container_file_t:s0:c1,c2" },
		{ "unlabeled", RELABEL_SHARED, NULL }, { "u:r:t:s0:", RELABEL_SHARED, NULL },
	};
	char gets[SECONTEXT_MAX];
	size_t i;
	bool good;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		good = newlabel_of_file(t[i].has, t[i].how, "s0:c1,c2", gets);
		ok(good == (t[i].gets != NULL) && (!good || strcmp(gets, t[i].gets) == 0), "%s, %s", t[i].has,
		    relabel_name(t[i].how));
	}
}

static void
of_nodes(void)
{
	char gets[SECONTEXT_MAX], longest[SECONTEXT_MAX], level[128] = "s0";
	size_t i;

	ok(newlabel_of_node("system_u:object_r:xserver_misc_device_t:s0", "s0:c1,c2", gets), "a node gets a label");
	is_str(gets, "system_u:object_r:gpuhelper_device_t:s0:c1,c2", "it is our type, with the container's level");
	ok(!newlabel_of_node("unlabeled", "s0:c1,c2", gets), "what is no label is replaced by none");
	memset(longest, 'x', sizeof(longest));
	longest[63] = ':';
	memcpy(longest + 127, ":t", sizeof(":t"));
	ok(newlabel_of_node(longest, "s0:c1,c2", gets), "a long label is replaced");
	for (i = 2; i < 110; i += 3)
		memcpy(level + i, i == 2 ? ":c1" : ",c1", sizeof(":c1"));
	ok(!newlabel_of_node(longest, level, gets), "a result that is too long is none");
}

int
main(void)
{
	of_files();
	of_nodes();
	return done_testing();
}
