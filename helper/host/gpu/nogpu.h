/* Hosts with an NVIDIA GPU that gpuhelper can't give: WSL2 and Tegra (gpu/unsupported.h). */
#ifndef GPUHELPER_HOST_GPU_NOGPU_H
#define GPUHELPER_HOST_GPU_NOGPU_H

/*
 * Why no NVIDIA GPU of this host can be given, as a text that follows "no usable NVIDIA GPU: ", or NULL. «root» is the
 * root directory of the host. To be asked only where NVIDIA's driver reports no GPU: a Tegra may have a PCI GPU, too.
 */
const char *host_unsupported(int root);

#endif
