/* The lines of /proc/PID/cgroup: which cgroup a process is in, in each hierarchy (cgroups(7)). */
#ifndef GPUHELPER_KERNEL_CGROUPLINE_H
#define GPUHELPER_KERNEL_CGROUPLINE_H

#include <stdbool.h>

#define CGROUP_CANDIDATES_MAX 128	/* cgroups in which one container may be */

struct cgroup_line {
	const char *controllers;	/* "" (v2), "cpu,cpuacct", "name=systemd" */
	const char *name;		/* the same without "name=": the hierarchy's directory in /sys/fs/cgroup; v2: "" */
	const char *path;		/* from the root of the reader's cgroup namespace; may begin with "/.." */
};

/*
 * Splits the next line «hierarchy:controllers:path» off *rest, in place. False at the end. Skips other lines.
 * A path may contain colons.
 */
bool cgroup_line_next(char **rest, struct cgroup_line *line);

/* True if a list of controllers has this one. */
bool cgroup_line_has(const char *controllers, const char *name);

#endif
