/* kernel/cgroupline.c: the lines of /proc/PID/cgroup. */
#include "base/cleanup.h"
#include "kernel/cgroupline.h"
#include "tap.h"

static void
test_lines(void)
{
	static const char text[] =
	    "13:name=systemd:/user.slice\n"
	    "4:cpu,cpuacct:/a:b\n"
	    "no line\n"
	    "3:memory\n"
	    "2:freezer:relative\n"
	    "1:pids:/../../other\n"
	    "0::/user.slice/user-1000.slice/x (deleted)";
	static const struct cgroup_line want[] = {
		{ "name=systemd", "systemd", "/user.slice" }, { "cpu,cpuacct", "cpu,cpuacct", "/a:b" },
		{ "pids", "pids", "/../../other" }, { "", "", "/user.slice/user-1000.slice/x (deleted)" },
	};
	autofree char *copy = strdup(text);
	struct cgroup_line l;
	char *rest = copy, empty[] = "", *none = empty;
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		if (!ok(cgroup_line_next(&rest, &l), "line %zu is found", i))
			return;
		is_str(l.controllers, want[i].controllers, "the line's controllers are read");
		is_str(l.name, want[i].name, "the name of the line's hierarchy is read");
		is_str(l.path, want[i].path, "the line's path is read");
	}
	ok(!cgroup_line_next(&rest, &l) && !cgroup_line_next(&rest, &l),
	    "after the last line, each call returns nothing");
	ok(!cgroup_line_next(&none, &l), "an empty text has no lines");
}

static void
test_has(void)
{
	ok(cgroup_line_has("memory", "memory"), "a controller that is the only one is found");
	ok(cgroup_line_has("memory,pids", "memory") && cgroup_line_has("memory,pids", "pids"),
	    "the first and the last controller are found");
	ok(cgroup_line_has("cpu,memory,pids", "memory"), "a controller in the middle is found");
	ok(!cgroup_line_has("cpuset,cpuacct", "cpu") && !cgroup_line_has("pid", "pids"),
	    "a part of a controller's name is not found");
	ok(!cgroup_line_has("", "pids") && !cgroup_line_has("name=freezer", "freezer"),
	    "a line of cgroup v2 or a named hierarchy has no such controller");
}

int
main(void)
{
	test_lines();
	test_has();
	return done_testing();
}
