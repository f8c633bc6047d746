/*
 * The capabilities of a process, as config.json or the process.json of exec lists them (OCI runtime spec,
 * config.md).
 */
#ifndef GPUHELPER_USER_SPEC_SPECCAPABILITY_H
#define GPUHELPER_USER_SPEC_SPECCAPABILITY_H

#include "../../json/doc.h"

/*
 * True if a process with this capability in the host's user namespace could evade its device rules or the
 * checks of tokens. True as well for any name that is not spelt like CAP_KILL: crun accepts «cap_sys_admin»
 * and «21».
 */
bool capability_is_strong(const char *name);

/*
 * The name of a strong capability in a set of the kernel's (CapBnd in proc_pid_status(5)); NULL if it has
 * none.
 */
const char *capability_strong_in(uint64_t set);

/* True if any of the process's sets has a strong capability, or an entry that is not a string. */
bool capabilities_are_strong(const struct doc *d, uint32_t process);

/* The same. Writes that capability's name to *name, cut to «size» bytes. */
bool capabilities_name_strong(const struct doc *d, uint32_t process, char *name, size_t size);

/* True if any of the process's sets has the capability with this name. */
bool capabilities_have(const struct doc *d, uint32_t process, const char *name);

/* The names of the sets. NULL ends the list. */
extern const char *const capability_sets[];

#endif
