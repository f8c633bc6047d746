/* The names by which systemd finds a device by its number: /dev/char/MAJOR:MINOR. */
#ifndef GPUHELPER_ROOT_CHARLINK_H
#define GPUHELPER_ROOT_CHARLINK_H

#include "../pure/edits.h"

/*
 * Makes the links that are missing in /dev/char to the NVIDIA nodes of «e», which
 * are there by now.  runc asks systemd to allow a node only where its link is, and
 * systemd ends at a daemon-reload what it was not asked for.  A link opens nothing,
 * so it is no act of a lease: it stays, as those of udev and of nvidia-modprobe do.
 * What is in its place already stays, too.  Refuses nothing: without the link the
 * container is as it would be without gpuhelper, and «gpuhelperctl doctor» says so.
 */
void charlink_nodes(const struct edits *e);

#endif
