/* gpuhelperctl's command line. */
#ifndef GPUHELPER_CTL_CMDLINE_H
#define GPUHELPER_CTL_CMDLINE_H

#include "ctl.h"

/*
 * Reads it into *o, whose lists have room for argc words and devices, and runs the
 * subcommand.  Returns the exit status.
 */
int cmdline_run(int argc, char **argv, struct options *o);

#endif
