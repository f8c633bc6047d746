/* Wakes those that wait for GPUs: the wrapper of a create, and the agent of a task. */
#ifndef GPUHELPER_USER_ASK_WATCH_H
#define GPUHELPER_USER_ASK_WATCH_H

#include <stdint.h>

#include "../../ask/reply.h"

enum event { EVENT_TIME, EVENT_CHANGE, EVENT_END };

/*
 * Watches what changes when a GPU becomes free or the queue moves. Returns an inotify descriptor. -1: this process may
 * not read these places, as only root may; then time alone makes it ask again.
 */
int watch_state(void);

/*
 * Waits at most ms milliseconds: until the process of pidfd ends (EVENT_END), or something that is watched changes
 * (EVENT_CHANGE). -1 for none of these.
 */
enum event watch_for(int watch, int pidfd, int64_t ms);

/*
 * After the reply that all GPUs are taken: waits until the queue may have moved, at most until the time is over that
 * the policy allows since «since» (clock_ms()), or until it is time to ask in any case. With each request ahead it
 * waits a little longer, so that the first one asks first, and alone.
 */
void watch_queue(int watch, int pidfd, const struct reply *reply, int64_t since);

#endif
