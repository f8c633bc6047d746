/* The links by which systemd finds a device by its number: /dev/char/MAJOR:MINOR. */
#ifndef GPUHELPER_ROOT_NODE_DEVCHAR_H
#define GPUHELPER_ROOT_NODE_DEVCHAR_H

#include "../../lease/edits.h"

/*
 * Makes the links in /dev/char that are missing for the NVIDIA nodes of «e», which exist by now. runc asks systemd to
 * allow a node only if its link exists, and at a daemon-reload systemd ends all access that it was not asked for. A
 * link opens nothing, so it is no change of a lease: it stays, as those of udev and of nvidia-modprobe do. Whatever is
 * in its place already stays, too. Never fails: without the link the container is as it would be without gpuhelper,
 * and «gpuhelperctl doctor» says so.
 */
void devchar_link(const struct edits *e);

#endif
