/* See nodrm.h. Asks the kernel, and looks for udev's tags. */
#include "nodrm.h"

#include <errno.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../file.h"
#include "gputext.h"

static int
refuse_names(int root, const char *dir, const char *prefix, struct why *why)
{
	autostrlist struct strlist names = { 0 };
	size_t i;

	if (gpus_list(root, dir, &names, why) == -1)
		return -1;
	for (i = 0; i < names.n; i++)
		if (text_starts(names.v[i], prefix))
			return refuse(why, WHY_AGAIN, "the driver of GPU %s has just been loaded: try again", names.v[i]);
	return 0;
}

static int
list_nodes(bool cards, bool accels, struct drm_nodes *out, struct why *why)
{
	const int root = file_root();

	/* whatever is asked for: there is none */
	(void)cards;
	(void)accels;
	(void)out;
	if (root == -1)
		return refuse(why, WHY_IO, "/: %s", strerror(errno));
	return refuse_names(root, "sys/class/drm", "renderD", why) == -1 ? -1 :
	    refuse_names(root, "sys/class/accel", "accel", why);
}

/* udev's file of what it knows of a device has a line for each tag (systemd, src/libsystemd/sd-device/sd-device.c). */
static bool
clears_users(uint32_t major, uint32_t minor)
{
	autofree char *text = NULL;

	if (!char_device_exists(major, minor))
		return false;
	if ((text = gpus_read(file_root(), "run/udev/data/c%u:%u", major, minor)) == NULL)
		return errno != ENOENT;
	return strstr(text, "\nG:uaccess\n") != NULL || text_starts(text, "G:uaccess\n");
}

const struct drm_source no_drm = { list_nodes, clears_users };
