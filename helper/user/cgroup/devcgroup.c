/*
 * See devcgroup.h. Setting a container's rules may be repeated: the second time changes nothing. Must leave programs of
 * others alone. A step that fails leaves the container with fewer nodes, never with more.
 */
#include "devcgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../gpu/devlist.h"
#include "../../host/cgroup/cgroup.h"
#include "../../host/file.h"

#define PROGRAM_NAME "gpuhelper_gate"
#define PROGRAM_MAX (9 + 2 * PROMISED_NODES_MAX)	/* instructions */

static int
open_cgroup(const char *cgroup, struct why *why)
{
	autoclose int root = cgroup_root();
	int fd = root != -1 ? file_open_beneath(root, cgroup, O_RDONLY | O_DIRECTORY) : -1;

	return fd != -1 ? fd : refuse(why, WHY_IO, "/sys/fs/cgroup/%s: %s", cgroup, strerror(errno));
}

/* The rules of a container that may open only the nodes that are open; with «closed», none. */
struct rules {
	const struct promised_node *node;
	size_t nodes;
	bool closed;
};

static bool
is_open(const struct rules *r, size_t i)
{
	return r->node[i].allowed && !r->closed;
}

/* cgroup v1 */

/* Writes the rules of the open nodes, or of the others, into «devices.allow» or «devices.deny». */
static int
write_rules(int dir, const char *cgroup, const struct rules *r, bool open, struct why *why)
{
	const char *name = open ? "devices.allow" : "devices.deny";
	autoclose int file = file_open_beneath(dir, name, O_WRONLY);
	char rule[48];
	size_t i;
	int n;

	if (file == -1)
		return refuse(why, WHY_IO, "/sys/fs/cgroup/%s/%s: %s", cgroup, name, strerror(errno));
	for (i = 0; i < r->nodes; i++) {
		if (is_open(r, i) != open)
			continue;
		n = snprintf(rule, sizeof(rule), "c %u:%u rw", r->node[i].major, r->node[i].minor);
		if (write(file, rule, (size_t)n) != n)
			return refuse(why, WHY_IO, "/sys/fs/cgroup/%s/%s: %s", cgroup, name, strerror(errno));
	}
	return 0;
}

static int
check_rules(const char *cgroup, const struct rules *r, struct why *why)
{
	autofree char *list = cgroup_device_list(cgroup);
	size_t i;

	if (list == NULL)
		return refuse(why, WHY_IO, "/sys/fs/cgroup/%s/devices.list: %s", cgroup, strerror(errno));
	for (i = 0; i < r->nodes; i++)
		if (devlist_allows(list, r->node[i].major, r->node[i].minor) != is_open(r, i))
			return refuse(why, WHY_DENIED, "/sys/fs/cgroup/%s/devices.list: the rule of device %u:%u was changed by someone "
			    "else", cgroup, r->node[i].major, r->node[i].minor);
	return 0;
}

/* cgroup v2 */

static int
bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int
refuse_bpf(const char *what, const char *cgroup, struct why *why)
{
	return refuse(why, WHY_IO, "/sys/fs/cgroup/%s: %s: %s", cgroup, what, strerror(errno));
}

/*
 * Writes the program «return type != char || (major, minor) is no node that is closed», on struct bpf_cgroup_dev_ctx,
 * into code[]. Returns how many instructions it has.
 */
static uint32_t
write_program(const struct rules *r, struct bpf_insn code[PROGRAM_MAX])
{
	struct bpf_insn *p = code;
	size_t i, left = 0, all;

	for (i = 0; i < r->nodes; i++)
		left += !is_open(r, i);
	all = left;
	/* r2 = type, r3 = major, r4 = minor */
	*p++ = (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 2, .src_reg = 1, .off = 0 };
	*p++ = (struct bpf_insn){ .code = BPF_ALU | BPF_AND | BPF_K, .dst_reg = 2, .imm = 0xffff };
	*p++ = (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 3, .src_reg = 1, .off = 4 };
	*p++ = (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 4, .src_reg = 1, .off = 8 };
	*p++ = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1 };
	*p++ = (struct bpf_insn){ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 2, .off = (int16_t)(2 * left),
		.imm = BPF_DEVCG_DEV_CHAR };
	for (i = 0; i < r->nodes; i++) {
		if (is_open(r, i))
			continue;
		/* another major: go to the next node; this minor: go to the end, and return 0 */
		*p++ = (struct bpf_insn){ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 3, .off = 1,
			.imm = (int32_t)r->node[i].major };
		*p++ = (struct bpf_insn){ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 4, .off = (int16_t)(2 * left-- - 1),
			.imm = (int32_t)r->node[i].minor };
	}
	*p++ = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	/* the kernel refuses a program with instructions that nothing leads to */
	if (all > 0) {
		*p++ = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 };
		*p++ = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	}
	return (uint32_t)(p - code);
}


static int
load_program(const struct rules *r)
{
	struct bpf_insn code[PROGRAM_MAX];
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
	attr.insns = (uint64_t)(uintptr_t)code;
	attr.insn_cnt = write_program(r, code);
	attr.license = (uint64_t)(uintptr_t)"MIT";
	memcpy(attr.prog_name, PROGRAM_NAME, sizeof(PROGRAM_NAME));
	return bpf(BPF_PROG_LOAD, &attr);
}

static int
program_info(int fd, struct bpf_prog_info *info)
{
	union bpf_attr attr;

	memset(info, 0, sizeof(*info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = (uint64_t)(uintptr_t)info;
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

/* Opens the program with this id. -1 if it is not gpuhelper's, or is gone. */
static int
open_ours(uint32_t id, struct bpf_prog_info *info)
{
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	if ((fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr)) == -1)
		return -1;
	if (program_info(fd, info) == 0 && strcmp(info->name, PROGRAM_NAME) == 0)
		return fd;
	close(fd);
	return -1;
}

int
devcgroup_programs(int dir, bool effective, uint32_t ids[DEVCGROUP_PROGRAMS_MAX], uint32_t *n)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.query.target_fd = (uint32_t)dir;
	attr.query.attach_type = BPF_CGROUP_DEVICE;
	attr.query.query_flags = effective ? BPF_F_QUERY_EFFECTIVE : 0;
	attr.query.prog_ids = (uint64_t)(uintptr_t)ids;
	attr.query.prog_cnt = DEVCGROUP_PROGRAMS_MAX;
	if (bpf(BPF_PROG_QUERY, &attr) == -1)
		return -1;
	*n = attr.query.prog_cnt;
	return 0;
}

static int
attach(int dir, const char *cgroup, int program, struct why *why)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.target_fd = (uint32_t)dir;
	attr.attach_bpf_fd = (uint32_t)program;
	attr.attach_type = BPF_CGROUP_DEVICE;
	attr.attach_flags = BPF_F_ALLOW_MULTI;
	return bpf(BPF_PROG_ATTACH, &attr) == 0 ? 0 : refuse_bpf("BPF_PROG_ATTACH", cgroup, why);
}

/* Detaches gpuhelper's programs, except the one with the id «keep». */
static int
detach_others(int dir, const char *cgroup, uint32_t keep, struct why *why)
{
	uint32_t id[DEVCGROUP_PROGRAMS_MAX], n, i;
	struct bpf_prog_info info;
	union bpf_attr attr;

	if (devcgroup_programs(dir, false, id, &n) == -1)
		return refuse_bpf("BPF_PROG_QUERY", cgroup, why);
	for (i = 0; i < n; i++) {
		autoclose int program = id[i] != keep ? open_ours(id[i], &info) : -1;

		if (program == -1)
			continue;
		memset(&attr, 0, sizeof(attr));
		attr.target_fd = (uint32_t)dir;
		attr.attach_bpf_fd = (uint32_t)program;
		attr.attach_type = BPF_CGROUP_DEVICE;
		if (bpf(BPF_PROG_DETACH, &attr) == -1 && errno != ENOENT)
			return refuse_bpf("BPF_PROG_DETACH", cgroup, why);
	}
	return 0;
}

/*
 * Attaches a new program, then detaches the old one. A container may open what all its programs allow, so it can never
 * open more in between than before or after.
 */
static int
replace_program(int dir, const char *cgroup, const struct rules *r, struct why *why)
{
	autoclose int program = load_program(r);
	struct bpf_prog_info info;

	if (program == -1 || program_info(program, &info) == -1)
		return refuse_bpf("BPF_PROG_LOAD", cgroup, why);
	return attach(dir, cgroup, program, why) == -1 ? -1 : detach_others(dir, cgroup, info.id, why);
}

/* Checks that one program of ours is attached, and that it has these rules: programs of the same code have one tag. */
static int
check_program(int dir, const char *cgroup, const struct rules *r, struct why *why)
{
	autoclose int model = load_program(r);
	uint32_t id[DEVCGROUP_PROGRAMS_MAX], n, i, same = 0, others = 0;
	struct bpf_prog_info wanted, info;

	if (model == -1 || program_info(model, &wanted) == -1)
		return refuse_bpf("BPF_PROG_LOAD", cgroup, why);
	if (devcgroup_programs(dir, false, id, &n) == -1)
		return refuse_bpf("BPF_PROG_QUERY", cgroup, why);
	for (i = 0; i < n; i++) {
		autoclose int program = open_ours(id[i], &info);

		if (program != -1 && memcmp(info.tag, wanted.tag, sizeof(info.tag)) == 0)
			same++;
		else if (program != -1)
			others++;
	}
	return same > 0 && others == 0 ? 0 : refuse(why, WHY_DENIED, "/sys/fs/cgroup/%s: gpuhelper's device rules were taken "
	    "away or changed by someone else", cgroup);
}

static bool
is_cgroup2(int dir)
{
	struct statfs fs;

	return fstatfs(dir, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

int
devcgroup_set(const char *cgroup, const struct promised_node *node, size_t nodes, bool closed, struct why *why)
{
	const struct rules r = { node, nodes, closed };
	autoclose int dir = open_cgroup(cgroup, why);

	if (dir == -1)
		return -1;
	if (nodes > PROMISED_NODES_MAX)
		return refuse(why, WHY_BUG, "more than %d nodes of one container", PROMISED_NODES_MAX);
	if (is_cgroup2(dir))
		return replace_program(dir, cgroup, &r, why);
	return write_rules(dir, cgroup, &r, false, why) == -1 ? -1 : write_rules(dir, cgroup, &r, true, why);
}

int
devcgroup_check(const char *cgroup, const struct promised_node *node, size_t nodes, bool closed, struct why *why)
{
	const struct rules r = { node, nodes, closed };
	autoclose int dir = open_cgroup(cgroup, why);

	if (dir == -1)
		return -1;
	if (nodes > PROMISED_NODES_MAX)
		return refuse(why, WHY_BUG, "more than %d nodes of one container", PROMISED_NODES_MAX);
	return is_cgroup2(dir) ? check_program(dir, cgroup, &r, why) : check_rules(cgroup, &r, why);
}

int
devcgroup_has_rules(const char *cgroup, struct why *why)
{
	autoclose int dir = open_cgroup(cgroup, why);
	uint32_t id[DEVCGROUP_PROGRAMS_MAX], n;

	if (dir == -1)
		return -1;
	if (!is_cgroup2(dir))
		return 0;
	if (devcgroup_programs(dir, false, id, &n) == -1)
		return refuse_bpf("BPF_PROG_QUERY", cgroup, why);
	return n > 0 ? 0 : refuse(why, WHY_DENIED, "/sys/fs/cgroup/%s has no device rules: its processes could open every "
	    "GPU", cgroup);
}
