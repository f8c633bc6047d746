/* Capabilities of a process, as a config.json or a process.json of exec names them (OCI, config.md). */
#ifndef GPUHELPER_USER_CAPABILITY_H
#define GPUHELPER_USER_CAPABILITY_H

#include "../pure/doc.h"

/*
 * True if a process in the host's user namespace can get around its device rules or the
 * checks of tokens with it, or might: what is not spelt like CAP_KILL may mean any (crun takes
 * «cap_sys_admin» and «21»).
 */
bool capability_is_strong(const char *name);

/* The name of one that is in a set of the kernel's (proc_pid_status(5), CapBnd); NULL: none. */
const char *capability_strong_in(uint64_t set);

/* True if one in any of the process's sets is, or is no text. */
bool capabilities_are_strong(const struct doc *d, uint32_t process);

/* The same; *name gets that one, cut at «size». */
bool capabilities_name_strong(const struct doc *d, uint32_t process, char *name, size_t size);

/* True if one in any of the process's sets has this name. */
bool capabilities_have(const struct doc *d, uint32_t process, const char *name);

/* The names of the sets, up to NULL. */
extern const char *const capability_sets[];

#endif
