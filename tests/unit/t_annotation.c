/* user/privilege/annotationkeys.c: which annotations a container may have. */
#include <stddef.h>

#include "tap.h"
#include "user/privilege/annotationkeys.h"

int
main(void)
{
	static const struct {
		const char *key;
		bool root, user;
	} t[] = {
		{ "", true, true }, { "user", true, true }, { "io.podman.annotations.init", true, true },
		{ "org.opencontainers.image.title", true, true }, { "run.ocia", true, true }, { "run.oci", true, true },
		{ "xrun.oci.hooks.stdout", true, true },
		/* runc and crun compare keys byte by byte, too */
		{ "Run.oci.hooks.stdout", true, true }, { "org.systemd.Property.Slice", true, true },
		{ "run.oci.hooks.stdout", false, false }, { "run.oci.hooks.stderr", false, false },
		{ "run.oci.systemd.subgroup", false, false }, { "run.oci.systemd.force_cgroup_v1", false, false },
		{ "run.oci.delegate-cgroup", false, false }, { "run.oci.pidfd_receiver", false, false },
		{ "run.oci.handler", false, false }, { "run.oci.seccomp.plugins", false, false },
		{ "run.oci.seccomp.receiver", false, false }, { "run.oci.seccomp_bpf_data", false, false },
		{ "run.oci.", false, false }, { "run.oci.what.is.new", false, false },
		{ "run.oci.mount_context_type", true, true }, { "run.oci.mount_context_type.x", false, false },
		{ "run.oci.seccomp_fail_unknown_syscall", true, true }, { "run.oci.keep_original_groups", false, true },
		{ "org.systemd.property.Slice", false, false }, { "org.systemd.property.PIDs", false, false },
		{ "org.systemd.property.DeviceAllow", false, false }, { "org.systemd.property.DevicePolicy", false, false },
		{ "org.systemd.property.Delegate", false, false }, { "org.systemd.property.", false, false },
		/* podman 5 sets this for every container */
		{ "org.systemd.property.KillSignal", true, true },
		{ "org.systemd.property.TimeoutStopUSec", true, true }, { "org.systemd.property.TimeoutStopSec", true, true },
		{ "org.systemd.property.CollectMode", true, true }, { "org.systemd.property.After", true, true },
		{ "org.systemd.property.after", false, false },
		{ "bundle=/tmp", false, false }, { "bundle=", false, false }, { "=", false, false }, { "a=b", false, false },
		{ "bundle", false, false }, { "bundle.x", true, true }, { "org.criu.config", false, false }, { "krun.variant", false, false }, { "krun.gpu_flags", false, false },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ok(annotation_is_allowed(t[i].key, true) == t[i].root,
		    "annotation of root's container: %s", t[i].key);
		ok(annotation_is_allowed(t[i].key, false) == t[i].user,
		    "annotation of a user's container: %s", t[i].key);
	}
	return done_testing();
}
