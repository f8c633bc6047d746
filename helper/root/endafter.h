/* An end to what no deadline of our own reaches. */
#ifndef GPUHELPER_ROOT_ENDAFTER_H
#define GPUHELPER_ROOT_ENDAFTER_H

/*
 * This process ends in so many milliseconds; 0: it does not.  For system calls on
 * what a user may have mounted a file system of his own on (fuse(4)), which keeps
 * the caller until it answers, whatever signals he handles.  What was done for a
 * lease by then is undone once its asker has ended, too.  Not to be held across
 * state_lock(), which has the same timer.
 */
void end_after(int ms);

#endif
