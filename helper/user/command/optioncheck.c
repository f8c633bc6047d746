/* See optioncheck.h. Decides by the options and the settings alone. */
#include "optioncheck.h"

int
options_check(const struct command *c, const struct settings *settings, bool by_root, struct why *why)
{
	if (c->from_image && by_root && settings->privileged == PRIVILEGED_DENY)
		return refuse(why, WHY_DENIED, "restore brings processes with the capabilities, mounts and open files of an image, "
		    "whatever config.json says: that is a privileged container, which this host does not allow (privileged = "
		    "\"deny\" in gpuhelper.conf)");
	/* only the device cgroup keeps a container of root's from opening a node */
	if (!c->without_cgroup || !by_root)
		return 0;
	return refuse(why, WHY_DENIED, "%s with --cgroup-manager=disabled or --rootless=true makes a container that may open "
	    "every device: leave the option out, or run it without root", c->verb);
}
