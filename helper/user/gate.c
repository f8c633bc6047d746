/*
 * See gate.h. Both changes may be repeated: the second time changes nothing. Must leave programs of others
 * alone.
 */
#include "gate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../host/cgroup.h"
#include "../host/file.h"

#define NODES_MAX 256
#define PROGRAM_NAME "gpuhelper_shut"

static int
open_cgroup(const char *cgroup, struct why *why)
{
	autoclose int root = cgroup_root();
	int fd = root != -1 ? file_open_beneath(root, cgroup, O_RDONLY | O_DIRECTORY) : -1;

	return fd != -1 ? fd : refuse(why, WHY_IO, "/sys/fs/cgroup/%s: %s", cgroup, strerror(errno));
}

/* cgroup v1 */

static int
write_rules(int file, const char *name, const char *cgroup, const struct devnum *node, size_t nodes, struct why *why)
{
	char rule[48];
	size_t i;
	int n;

	for (i = 0; i < nodes; i++) {
		n = snprintf(rule, sizeof(rule), "c %u:%u rw", node[i].major, node[i].minor);
		if (write(file, rule, (size_t)n) != n)
			return refuse(why, WHY_IO, "/sys/fs/cgroup/%s/%s: %s", cgroup, name, strerror(errno));
	}
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

/* Loads the program «return type != char || (major, minor) is none of these», on struct bpf_cgroup_dev_ctx. */
static int
load_program(const struct devnum *node, size_t nodes)
{
	struct bpf_insn code[8 + 2 * NODES_MAX], *p = code;
	union bpf_attr attr;
	size_t i;

	/* r2 = type, r3 = major, r4 = minor */
	*p++ = (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 2, .src_reg = 1, .off = 0 };
	*p++ = (struct bpf_insn){ .code = BPF_ALU | BPF_AND | BPF_K, .dst_reg = 2, .imm = 0xffff };
	*p++ = (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 3, .src_reg = 1, .off = 4 };
	*p++ = (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 4, .src_reg = 1, .off = 8 };
	*p++ = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1 };
	*p++ = (struct bpf_insn){ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 2, .off = (int16_t)(2 * nodes),
		.imm = BPF_DEVCG_DEV_CHAR };
	for (i = 0; i < nodes; i++) {
		/* another major: go to the next node; this minor: go to the end, and return 0 */
		*p++ = (struct bpf_insn){ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 3, .off = 1,
			.imm = (int32_t)node[i].major };
		*p++ = (struct bpf_insn){ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 4,
			.off = (int16_t)(2 * (nodes - i) - 1), .imm = (int32_t)node[i].minor };
	}
	*p++ = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	*p++ = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 };
	*p++ = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
	attr.insns = (uint64_t)(uintptr_t)code;
	attr.insn_cnt = (uint32_t)(p - code);
	attr.license = (uint64_t)(uintptr_t)"MIT";
	memcpy(attr.prog_name, PROGRAM_NAME, sizeof(PROGRAM_NAME));
	return bpf(BPF_PROG_LOAD, &attr);
}

/* Opens the program with this id. -1 if it is not gpuhelper's, or is gone. */
static int
open_ours(uint32_t id)
{
	struct bpf_prog_info info;
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	if ((fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr)) == -1)
		return -1;
	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uint64_t)(uintptr_t)&info;
	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0 && strcmp(info.name, PROGRAM_NAME) == 0)
		return fd;
	close(fd);
	return -1;
}

int
gate_programs(int dir, bool effective, uint32_t ids[GATE_PROGRAMS_MAX], uint32_t *n)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.query.target_fd = (uint32_t)dir;
	attr.query.attach_type = BPF_CGROUP_DEVICE;
	attr.query.query_flags = effective ? BPF_F_QUERY_EFFECTIVE : 0;
	attr.query.prog_ids = (uint64_t)(uintptr_t)ids;
	attr.query.prog_cnt = GATE_PROGRAMS_MAX;
	if (bpf(BPF_PROG_QUERY, &attr) == -1)
		return -1;
	*n = attr.query.prog_cnt;
	return 0;
}

static bool
has_ours(int dir)
{
	uint32_t id[GATE_PROGRAMS_MAX], n, i;
	int fd;

	if (gate_programs(dir, false, id, &n) == -1)
		return false;
	for (i = 0; i < n; i++)
		if ((fd = open_ours(id[i])) != -1) {
			close(fd);
			return true;
		}
	return false;
}

static int
attach_ours(int dir, const char *cgroup, const struct devnum *node, size_t nodes, struct why *why)
{
	autoclose int program = -1;
	union bpf_attr attr;

	if (has_ours(dir))
		return 0;
	if (nodes > NODES_MAX)
		return refuse(why, WHY_BUG, "more than %d nodes of one container", NODES_MAX);
	if ((program = load_program(node, nodes)) == -1)
		return refuse_bpf("BPF_PROG_LOAD", cgroup, why);
	memset(&attr, 0, sizeof(attr));
	attr.target_fd = (uint32_t)dir;
	attr.attach_bpf_fd = (uint32_t)program;
	attr.attach_type = BPF_CGROUP_DEVICE;
	attr.attach_flags = BPF_F_ALLOW_MULTI;
	return bpf(BPF_PROG_ATTACH, &attr) == 0 ? 0 : refuse_bpf("BPF_PROG_ATTACH", cgroup, why);
}

static int
detach_ours(int dir, const char *cgroup, struct why *why)
{
	uint32_t id[GATE_PROGRAMS_MAX], n, i;
	union bpf_attr attr;

	if (gate_programs(dir, false, id, &n) == -1)
		return refuse_bpf("BPF_PROG_QUERY", cgroup, why);
	for (i = 0; i < n; i++) {
		autoclose int program = open_ours(id[i]);

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

static bool
is_cgroup2(int dir)
{
	struct statfs fs;

	return fstatfs(dir, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static int
change_gate(bool shut, const char *cgroup, const struct devnum *node, size_t nodes, struct why *why)
{
	const char *name = shut ? "devices.deny" : "devices.allow";
	autoclose int dir = open_cgroup(cgroup, why), file = -1;

	if (dir == -1)
		return -1;
	if (is_cgroup2(dir))
		return shut ? attach_ours(dir, cgroup, node, nodes, why) : detach_ours(dir, cgroup, why);
	if ((file = file_open_beneath(dir, name, O_WRONLY)) == -1)
		return refuse(why, WHY_IO, "/sys/fs/cgroup/%s/%s: %s", cgroup, name, strerror(errno));
	return write_rules(file, name, cgroup, node, nodes, why);
}

int
gate_shut(const char *cgroup, const struct devnum *node, size_t nodes, struct why *why)
{
	return change_gate(true, cgroup, node, nodes, why);
}

int
gate_open(const char *cgroup, const struct devnum *node, size_t nodes, struct why *why)
{
	return change_gate(false, cgroup, node, nodes, why);
}

int
gate_is_ruled(const char *cgroup, struct why *why)
{
	autoclose int dir = open_cgroup(cgroup, why);
	uint32_t id[GATE_PROGRAMS_MAX], n;

	if (dir == -1)
		return -1;
	if (!is_cgroup2(dir))
		return 0;
	if (gate_programs(dir, false, id, &n) == -1)
		return refuse_bpf("BPF_PROG_QUERY", cgroup, why);
	return n > 0 ? 0 : refuse(why, WHY_DENIED, "/sys/fs/cgroup/%s has no device rules: its processes could open every "
	    "GPU", cgroup);
}
