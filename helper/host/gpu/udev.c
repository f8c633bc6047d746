/*
 * See udev.h. Reads sysfs and udev's database through libudev, which obeys environment variables
 * (SYSTEMD_DEVICE_VERIFY_SYSFS, UDEV_*), so the caller must have cleared the environment. Must open no
 * device. Asks for the few devices needed and never for a whole bus, because each listed device takes libudev
 * about 0.1 ms.
 */
#include "udev.h"

#include <libudev.h>
#include <string.h>
#include <sys/sysmacros.h>

static void
put_udev(struct udev **u)
{
	(void)udev_unref(*u);
}

static void
put_enumerate(struct udev_enumerate **e)
{
	(void)udev_enumerate_unref(*e);
}

static void
put_device(struct udev_device **d)
{
	(void)udev_device_unref(*d);
}

#define autoudev __attribute__((cleanup(put_udev)))
#define autoenumerate __attribute__((cleanup(put_enumerate)))
#define autodevice __attribute__((cleanup(put_device)))

/*
 * Takes the direct parent of the device, not the next PCI device above: for a USB display that would be the
 * USB controller.
 */
static bool
read_drm_device(struct udev_device *d, struct drm_node *out)
{
	struct udev_device *parent = udev_device_get_parent(d);
	dev_t dev = udev_device_get_devnum(d);
	struct drm_facts f = {
		.name = udev_device_get_sysname(d),
		.devnode = udev_device_get_devnode(d),
		.major = major(dev),
		.minor = minor(dev),
	};

	if (parent != NULL) {
		f.bus = udev_device_get_subsystem(parent);
		f.parent = udev_device_get_sysname(parent);
		f.driver = udev_device_get_driver(parent);
		f.vendor = udev_device_get_sysattr_value(parent, "vendor");
		f.device = udev_device_get_sysattr_value(parent, "device");
		f.class = udev_device_get_sysattr_value(parent, "class");
	}
	if (f.devnode == NULL || !drm_node_make(&f, out))
		return false;
	out->udev_clears = udev_device_has_tag(d, "uaccess") > 0;
	return true;
}

/* Adds the devices of a subsystem whose names match one of the patterns. */
static int
add_matching(struct udev *u, const char *subsystem, const char *const *patterns, struct drm_nodes *out,
    struct why *why)
{
	autoenumerate struct udev_enumerate *e = udev_enumerate_new(u);
	struct udev_list_entry *entry;
	struct drm_node node;
	int r;

	if (e == NULL)
		return refuse_nomem(why);
	if ((r = udev_enumerate_add_match_subsystem(e, subsystem)) < 0)
		return refuse(why, WHY_IO, "libudev: %s", strerror(-r));
	for (; *patterns != NULL; patterns++)
		if ((r = udev_enumerate_add_match_sysname(e, *patterns)) < 0)
			return refuse(why, WHY_IO, "libudev: %s", strerror(-r));
	if ((r = udev_enumerate_scan_devices(e)) < 0)
		return refuse(why, WHY_IO, "libudev can't list %s devices: %s: is /sys mounted?",
		    subsystem, strerror(-r));
	udev_list_entry_foreach(entry, udev_enumerate_get_list_entry(e)) {
		autodevice struct udev_device *d =
		    udev_device_new_from_syspath(u, udev_list_entry_get_name(entry));

		/* it may have been removed since */
		if (d == NULL || !read_drm_device(d, &node))
			continue;
		if (!drm_nodes_add(out, &node))
			return refuse_nomem(why);
	}
	return 0;
}

static int
list_nodes(bool cards, bool accels, struct drm_nodes *out, struct why *why)
{
	/* not "card*", which would list all connectors (card0-DP-1), too */
	static const char *const both[] = { "renderD*", "card[0-9]", "card[0-9][0-9]", NULL };
	static const char *const renders[] = { "renderD*", NULL };
	static const char *const accel[] = { "accel*", NULL };
	autoudev struct udev *u = udev_new();

	if (u == NULL)
		return refuse_nomem(why);
	if (add_matching(u, "drm", cards ? both : renders, out, why) == -1)
		return -1;
	return accels ? add_matching(u, "accel", accel, out, why) : 0;
}

/* libudev makes a dozen calls to find out that there is no such device. */
static bool
clears_users(uint32_t major, uint32_t minor)
{
	autoudev struct udev *u = char_device_exists(major, minor) ? udev_new() : NULL;
	autodevice struct udev_device *d = u != NULL ? udev_device_new_from_devnum(u, 'c', makedev(major, minor)) : NULL;

	return d != NULL && udev_device_has_tag(d, "uaccess") > 0;
}

const struct drm_source udev_drm = { list_nodes, clears_users };

int
gpus_of_host(unsigned vendors, struct inventory *inv, struct why *why)
{
	return gpus_here(&udev_drm, vendors, inv, why);
}
