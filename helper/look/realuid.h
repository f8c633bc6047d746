/* Whose a process is. */
#ifndef GPUHELPER_LOOK_REALUID_H
#define GPUHELPER_LOOK_REALUID_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Gets the real uid of a process (PID beneath the directory «proc»); for a setuid program, that is the user
 * who started it. False if it can't be read, with errno (0 if the text has no uid).
 */
bool process_real_uid(int proc, const char *pid, uint32_t *out);

#endif
