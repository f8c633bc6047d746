/*
 * lease/ledgerfile.c, lease/change.c: a node of the ledger is read back as it was written, and anything else is refused;
 * which entries are one act; what goes with the last entry of a kind.
 */
#include <stdlib.h>

#include "lease/ledgerfile.h"
#include "nomem.h"
#include "tap.h"

#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define LABEL "system_u:object_r:gpuhelper_device_t:s0:c1,c2"

static const struct change user = { .kind = CHANGE_ALLOW_USER, .path = "/dev/nvidia0", .major = 195, .id = 4294967294 };
static const struct change group = { .kind = CHANGE_ALLOW_GROUP, .path = "/dev/nvidia0", .major = 195, .id = 1000 };
static const struct change make = { .kind = CHANGE_MAKE_NODE, .path = "/dev/nvidia0", .major = 195 };
static const struct change label = { .kind = CHANGE_LABEL, .path = "/dev/nvidia0", .major = 195, .label = LABEL };

static void
fill(struct ledger_node *n)
{
	*n = (struct ledger_node){ .path = "/dev/nvidia0", .major = 195, .boot = "11111111-2222-3333-4444-555555555555",
		.inode = UINT64_MAX, .mask = 6 };
	(void)ledger_add(n, KEY_A, 0, &make, NULL);
	(void)ledger_add(n, KEY_A, 4294967294, &user, NULL);
	(void)ledger_add(n, KEY_B, 1000, &group, NULL);
	(void)ledger_add(n, KEY_B, 1000, &label, "system_u:object_r:xserver_misc_device_t:s0");
}

static const char text_of_it[] = "ledger 1\nnode /dev/nvidia0 195 0\n"
    "before 11111111-2222-3333-4444-555555555555 18446744073709551615 6\n"
    "entry " KEY_A " 0 make-node 0 - -\n"
    "entry " KEY_A " 4294967294 allow-user 4294967294 - -\n"
    "entry " KEY_B " 1000 allow-group 1000 - -\n"
    "entry " KEY_B " 1000 label 0 " LABEL " system_u:object_r:xserver_misc_device_t:s0\nend\n";

static void
test_round_trip(void)
{
	struct ledger_node a, b;
	char name[LEDGER_NAME_SIZE], *text, *again;
	struct why why;

	fill(&a);
	is_str(text = ledger_encode(&a), text_of_it, "a node is written as lines");
	is_int(ledger_decode(text, strlen(text), &b, &why), 0, "the lines are read");
	is_str(again = ledger_encode(&b), text_of_it, "and written again");
	free(text);
	free(again);
	ledger_node_free(&a);
	ledger_node_free(&b);
	ok(b.entry == NULL && b.entries == 0 && b.mask == CHANGE_NO_MASK, "ledger_node_free() empties the node");
	ledger_name("/dev/dri/by.x-y_0", 4294967295, 4294967295, name);
	is_str(name, "4294967295:4294967295!dev!dri!by!x-y_0", "a node's file has its number and its path as its name");
}

static int
decode(const char *text, size_t len)
{
	struct ledger_node n;
	struct why why;
	int ret = ledger_decode(text, len, &n, &why);

	if (ret == -1 && (n.entry != NULL || n.entries != 0 || n.path[0] != '\0' || why.code != WHY_CONFIG))
		ret = -2;
	ledger_node_free(&n);
	return ret;
}

static void
test_refused(void)
{
	static const char *const t[] = {
		"", "end\n", "ledger 1\nend\n", "ledger 1\nnode /dev/x 1 2\nend\n", "ledger 2\nnode /dev/x 1 2\nbefore - 0 none\nend\n",
		"ledger 1\nnode /dev/x 1\nbefore - 0 none\nend\n", "ledger 1\nnode /dev/x -1 2\nbefore - 0 none\nend\n",
		"ledger 1\nnode /dev/x 1 4294967296\nbefore - 0 none\nend\n", "ledger 1\nnode /dev/x 1 2\nbefore - -1 none\nend\n",
		"ledger 1\nnode /dev/x 1 2\nbefore - 0 8\nend\n", "ledger 1\nnode /dev/x 1 2\nbefore - 0 -1\nend\n",
		"ledger 1\nnode /dev/x 1 2\nbefore - 0\nend\n", "ledger 1\nnode /dev/x 1 2\nbefore - 0 none\n",
		"ledger 1\nnode /dev/x 1 2\nbefore - 0 none\nend\nend\n",
		"ledger 1\nnode /dev/x 1 2\nbefore - 0 none\nentry k 0 allow-all 0 - -\nend\n",
		"ledger 1\nnode /dev/x 1 2\nbefore - 0 none\nentry k -1 allow-user 0 - -\nend\n",
		"ledger 1\nnode /dev/x 1 2\nbefore - 0 none\nentry k 0 allow-user 0 -\nend\n",
		"ledger 1\nnode /dev/x 1 2\nbefore - 0 none\nentry k 0 allow-user 4294967296 - -\nend\n",
		"ledger 1\nnode /dev/x 1 2\nbefore - 0 none\nentry " KEY_A "a 0 allow-user 0 - -\nend\n",
		/* only a label's entry has labels, and has both */
		"ledger 1\nnode /dev/x 1 2\nbefore - 0 none\nentry k 0 label 0 - -\nend\n",
		"ledger 1\nnode /dev/x 1 2\nbefore - 0 none\nentry k 0 label 0 u:r:t:s0 -\nend\n",
		"ledger 1\nnode /dev/x 1 2\nbefore - 0 none\nentry k 0 label 0 - u:r:t:s0\nend\n",
		"ledger 1\nnode /dev/x 1 2\nbefore - 0 none\nentry k 0 allow-user 1 u:r:t:s0 u:r:t:s0\nend\n",
		"ledger 1\nnode /dev/x 1 2\nbefore - 0 none\nentry k 0 make-node 0 - u:r:t:s0\nend\n",
	};
	static const char good[] = "ledger 1\nnode /dev/x 1 2\nbefore - 0 none\nentry k 0 allow-user 1 - -\nend\n";
	size_t i;

	is_int(decode(good, sizeof(good) - 1), 0, "a node is read");
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		is_int(decode(t[i], strlen(t[i])), -1, t[i]);
	for (i = 0; i < sizeof(good) - 1 && decode(good, i) == -1; i++)
		;
	is_int(i, sizeof(good) - 1, "no beginning of it is read");
}

static void
test_entries(void)
{
	struct ledger_node n;
	struct change other = user;
	struct ledger_entry group_of_same;

	fill(&n);
	ok(ledger_find(&n, KEY_A, &user) == &n.entry[1] && ledger_find(&n, KEY_B, &user) == NULL, "a lease's own act is found");
	other.kind = CHANGE_ALLOW_GROUP;
	ok(ledger_find(&n, KEY_A, &other) == NULL, "an entry for a group is not one for a user");
	other = user;
	other.id = 6;
	ok(ledger_find(&n, KEY_A, &other) == NULL, "an entry for another user is another");
	other = label;
	other.label[0] = 'x';
	ok(ledger_find(&n, KEY_B, &other) == NULL && ledger_find(&n, KEY_B, &label) == &n.entry[3], "so is another label");
	group_of_same = n.entry[1];
	ok(ledger_same_change(&n.entry[1], &group_of_same) && !ledger_same_change(&n.entry[1], &n.entry[2]) &&
	    !ledger_same_change(&n.entry[0], &n.entry[3]), "entries of one act are told from others");
	group_of_same.kind = CHANGE_ALLOW_GROUP;
	ok(!ledger_same_change(&n.entry[1], &group_of_same), "by their kind, too");
	n.entry[1].undone = true;
	ledger_drop_undone(&n);
	ok(n.entries == 3 && n.mask == 6 && n.inode == UINT64_MAX && n.entry[1].kind == CHANGE_ALLOW_GROUP,
	    "an entry is removed, and what was before stays");
	n.entry[1].undone = true;
	ledger_drop_undone(&n);
	ok(n.mask == CHANGE_NO_MASK && n.inode == UINT64_MAX, "the mask goes with the last ACL entry");
	n.entry[0].undone = true;
	ledger_drop_undone(&n);
	ok(n.entries == 1 && n.inode == 0 && n.entry[0].kind == CHANGE_LABEL, "the inode goes with the last lease that had it made");
	ledger_node_free(&n);
}

static void
test_node_changes(void)
{
	struct changes all = { .n = 0 };
	struct change shared = make, another = make;

	shared.shared = true;
	another.minor = 1;
	ok(changes_add(&all, &user) && changes_add(&all, &user), "an act is added twice");
	is_int(all.n, 1, "the act is kept once");
	ok(changes_add(&all, &group) && changes_add(&all, &shared), "others are added");
	ok(all.n == 3 && !changes_make_any(&all), "no node is to be made: one is shared");
	ok(changes_add(&all, &another) && changes_make_any(&all), "another is to be made");
	changes_keep_nodes(&all);
	ok(all.n == 2 && all.v[0].shared && all.v[1].minor == 1, "only the acts that make nodes are kept");
	changes_free(&all);
	ok(all.n == 0 && all.v == NULL, "changes_free() empties them");
}

#if !defined(__SANITIZE_ADDRESS__)
static char *
round_trip(void)
{
	struct ledger_node n;
	char *again = NULL;
	struct why why;

	if (ledger_decode(text_of_it, sizeof(text_of_it) - 1, &n, &why) == 0)
		again = ledger_encode(&n);
	ledger_node_free(&n);
	return again;
}
#endif

int
main(void)
{
	test_round_trip();
	test_refused();
	test_entries();
	test_node_changes();
#if !defined(__SANITIZE_ADDRESS__)
	starve("a node is read and written", round_trip);
#else
	skip("when memory runs out", "a sanitizer has its own allocator");
#endif
	return done_testing();
}
