/* gpuhelperctl's command line. */
#ifndef GPUHELPER_CTL_CMDLINE_H
#define GPUHELPER_CTL_CMDLINE_H

#include "ctl.h"

/*
 * Parses the command line into *o and runs the subcommand.  Each list of *o has room for argc entries.  Returns the
 * exit status.
 */
int cmdline_run(int argc, char **argv, struct options *o);

#endif
