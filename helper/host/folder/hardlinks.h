/* Whether any user can link any file into a folder of theirs. */
#ifndef GPUHELPER_HOST_FOLDER_HARDLINKS_H
#define GPUHELPER_HOST_FOLDER_HARDLINKS_H

/*
 * fs.protected_hardlinks (proc_sys_fs(5)). Returns 1 if only those who may read and write a file can link it
 * into another folder, 0 if anyone can, and -1 with errno if it can't be read.
 */
int hardlinks_protected(void);

#endif
