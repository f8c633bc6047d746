/*
 * The process's timers: one for what it waits for, which is over before the next
 * thing sets it, and one for the whole of its life.
 */
#ifndef GPUHELPER_ROOT_TIMER_H
#define GPUHELPER_ROOT_TIMER_H

/*
 * A signal after so many milliseconds, and again every 100 ms in case one comes
 * before the call that it is to interrupt: a wait in the kernel then ends with
 * EINTR.  0: no more.
 */
void wake_after(int ms);

/*
 * This process ends in so many milliseconds; 0: it does not.  For system calls on
 * what a user may have mounted a file system of his own on (fuse(4)), which keeps
 * the caller until it answers, whatever signals he handles.  What was done for a
 * lease by then is undone once its asker has ended, too.
 */
void end_after(int ms);

/*
 * How long a helper lives at most.  What it waits for has an end of its own each: 2 s
 * for the request, 1.5 s for each of four locks and 1 s for the log's chain, 4 s to tell of a grant or to take it
 * back, 8 s for folders that are labelled, 3 s for what else gpuhelper-label is asked,
 * 2 s for who takes the answer and 5 s for the last byte.  10 s for the runtime to make the container, during which no
 * lock is held and nothing is half done.  Before any lock, 10 s for each question to gpuhelper-read,
 * 6 s for one to gpuhelper-judge and 10 s for that about the host: the caller who keeps those from answering loses his
 * own request.  Nor is a lock held for the 8 s in which it is seen who has a GPU open (host/holders.h).
 * Root by himself, whose looks go over all leases and processes, has longer.
 */
#define LIFE_S 30
#define LIFE_OF_ROOTS_S 300

/*
 * This process is killed in so many seconds, once and for all: nothing takes it
 * back.  With SIGKILL, which can be neither blocked nor ignored and ends who was
 * stopped, too.  -1 with errno: EAGAIN where the limit on pending signals leaves
 * no room for one.
 */
int kill_after(int seconds);

#endif
