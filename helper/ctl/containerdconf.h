/* What containerd's settings say of where it looks for runtimes. */
#ifndef GPUHELPER_CTL_CONTAINERDCONF_H
#define GPUHELPER_CTL_CONTAINERDCONF_H

#define CONTAINERD_OPT "/opt/containerd/bin"	/* where it looks first, unless told otherwise (its plugin «opt») */
#define CONTAINERD_RUNC CONTAINERD_OPT "/runc"

/*
 * The PATH of its shims: «file» (NULL: /etc/containerd/config.toml) is its settings,
 * «path» the PATH that it was started with.  A file that can't be read, or says
 * nothing of it, is the default.  The caller frees; NULL: no memory.
 */
char *containerd_path(const char *file, const char *path);

#endif
