/* The process's timers: one for what it waits for at the moment, and one for as long as it runs. */
#ifndef GPUHELPER_ROOT_SELF_TIMER_H
#define GPUHELPER_ROOT_SELF_TIMER_H

/*
 * Sends a signal after ms milliseconds, so that a wait in the kernel ends with EINTR; and again every 100 ms, in case
 * one comes before the call that it is to interrupt. 0: stops that.
 */
void interrupt_after(int ms);

/*
 * Ends this process after ms milliseconds; 0: cancels that. For system calls on paths where a user may have mounted a
 * file system of his own (fuse(4)): such a call lasts until that file system answers, whatever signals the process
 * handles. A later helper undoes what was done for the lease by then, once the process that asked has ended.
 */
void end_after(int ms);

/*
 * A helper runs for RUN_MAX_S at most, root's for RUN_MAX_OF_ROOTS_S (times.h). Each wait has its own limit:
 * - 2 s for the request, 2 s for the peer to take the answer, and 5 s for its last byte
 * - 1.5 s for each of four locks, and 1 s for the log's chain
 * - 4 s to confirm a grant or to take it back
 * - 8 s for labelling folders, and 3 s for other questions to gpuhelper-label
 * - 10 s for the runtime to make the container, during which no lock is held and nothing is half done; 120 s if this
 *   helper has looked meanwhile who has the GPU open, which only root's does. The container of a runtime that needs
 *   longer is made once more, with the look before it
 * - before any lock: 10 s for each question to gpuhelper-read, 6 s for one to gpuhelper-judge, 10 s for that about the
 *   host, and 6 s for each message of gpuhelper-engine's. A caller who delays these loses only his own request.
 * - before any lock, and once more after it: 8 s for gpuhelper-look to find folders and cgroups; 8 s for the helper to
 *   walk the folders' paths
 * - under the lock, 3 s for gpuhelper-look to find driver files; ALL_SCANS_MS for all its scans
 * - under the lock, 3 s for which GPUs gpuhelper-engine picks, and for what comes with them
 * - without a lock: 8 s to see who has a GPU open (base/times.h)
 * Root's own requests look at all leases and processes, and may take longer.
 *
 * kill_after() kills this process after so many seconds (times.h); nothing can take that back. SIGKILL can be neither
 * blocked nor ignored, and ends a stopped process, too. -1 with errno: EAGAIN if the limit on pending signals leaves no
 * room for one.
 */
int kill_after(int seconds);

#endif
