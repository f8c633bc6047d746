/*
 * ctl/cdi/cdimake.c: a spec that was put together is read back unchanged, in the lowest possible
 * version.
 */
#include "base/cleanup.h"
#include "ctl/cdi/cdimake.h"
#include "read/cdi/cdispec.h"
#include "tap.h"

static const char *const options[] = { "bind", "ro", NULL };

/* Reads the text back; ends the test on an error. */
static void
reread(const struct cdi_spec *s, struct cdi_spec *out, const char *version)
{
	autocdifaults struct cdi_faults f = { 0 };
	autofree char *text = cdi_make_text(s);

	if (text == NULL || !cdi_parse(out, CDI_JSON, text, strlen(text), &f) || f.unsafe > 0) {
		ok(false, "the text is read: %s", f.n > 0 ? f.v[0].text : "no memory");
		exit(1);
	}
	is_str(out->version, version, "the spec has the lowest version");
}

static void
test_all(void)
{
	autocdi struct cdi_spec s = { 0 }, r = { 0 };
	struct cdi_device *d;

	ok(cdi_make_kind(&s, "nvidia.com/gpu"), "a kind is added");
	ok(cdi_make_env(&s.edits, "A=\"\\b"), "a variable is added");
	ok(cdi_make_mount(&s.edits, "/usr/lib/a", "/usr/lib64/a", options) && cdi_make_mount(&s.edits, "/usr/lib/b", "/usr/lib64/a",
	    options) && s.edits.mounts == 1, "a second mount at the same place is not added");
	ok((d = cdi_make_device(&s, "gpu0")) != NULL && cdi_make_node(&d->edits, "/dev/nvidia0", 195, 0, "rw", 0) &&
	    cdi_make_node(&d->edits, "/dev/nvidia0", 195, 1, "rw", 0) && d->edits.nodes == 1,
	    "a second node with the same path is not added");
	ok((d = cdi_make_device(&s, "GPU-1")) != NULL && cdi_make_node(&d->edits, "/dev/dri/renderD128", 226, 128, "r", 44),
	    "a second device is added");
	reread(&s, &r, "0.3.0");
	is_str(r.kind, "nvidia.com/gpu", "the kind is read back");
	ok(r.devices == 2 && r.edits.mounts == 1 && r.edits.env.n == 1,
	    "all devices, mounts and variables are read back");
	is_str(r.edits.env.v[0], "A=\"\\b", "the variable is read back");
	is_str(r.edits.mount[0].host_path, "/usr/lib/a",
	    "of two mounts at one place, the first is kept");
	ok(r.edits.mount[0].options.n == 2 && strcmp(r.edits.mount[0].options.v[1], "ro") == 0,
	    "the mount options are read back");
	ok(r.device[0].edits.node[0].minor.v == 0 && !r.device[0].edits.node[0].gid.set,
	    "of two nodes with one path, the first is kept");
	ok(r.device[1].edits.node[0].gid.v == 44 &&
	    strcmp(r.device[1].edits.node[0].permissions, "r") == 0,
	    "the group and the permissions are read back");
	ok(r.device[1].edits.node[0].type == 'c' && r.device[1].edits.node[0].major.v == 226,
	    "the type and the device number are read back");
}

static void
test_versions(void)
{
	autocdi struct cdi_spec s = { 0 }, r = { 0 }, q = { 0 };
	struct cdi_device *d;

	ok(cdi_make_kind(&s, "amd.com/gpu") && (d = cdi_make_device(&s, "0")) != NULL &&
	    cdi_make_node(&d->edits, "/dev/kfd", 235, 0, "rw", 0),
	    "a device whose name is a number is added");
	reread(&s, &r, "0.5.0");
	ok(cdi_make_gid(&s.device[0].edits, 0) && cdi_make_gid(&s.device[0].edits, 105) && cdi_make_gid(&s.device[0].edits, 105) &&
	    s.device[0].edits.gids == 1, "a group is added once");
	reread(&s, &q, "0.7.0");
	ok(q.device[0].edits.gids == 1 && q.device[0].edits.gid[0] == 105,
	    "the group is read back");
}

int
main(void)
{
	test_all();
	test_versions();
	return done_testing();
}
