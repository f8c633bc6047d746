/* Where the list of drained GPUs is (drained.h). */
#ifndef GPUHELPER_GPU_DRAINEDFILE_H
#define GPUHELPER_GPU_DRAINEDFILE_H

#define DRAINED_NAME "drained"		/* name of the file in GPUHELPER_STATEDIR */
#define DRAINED_LIST GPUHELPER_STATEDIR "/" DRAINED_NAME
#define DRAINED_FILE_MAX (256 * 1024)	/* bytes */

#endif
