/*
 * Adds two vectors on the first GPU that CUDA shows, and checks every element.  It uses only the driver's interface
 * (functions of cuda.h, looked up in libcuda.so.1), and its kernel is PTX that the driver compiles.  So it is built
 * without CUDA, and needs only the driver's files at run time.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N (1 << 20)

static const char kernel[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry add(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 pn)\n"
    "{\n"
    "	.reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<11>;\n"
    "	ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, [pb]; ld.param.u64 %rd3, [pc]; ld.param.u32 %r1, [pn];\n"
    "	mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "	setp.ge.u32 %p1, %r5, %r1; @%p1 bra done;\n"
    "	cvta.to.global.u64 %rd4, %rd1; cvta.to.global.u64 %rd5, %rd2; cvta.to.global.u64 %rd6, %rd3;\n"
    "	mul.wide.u32 %rd7, %r5, 4; add.s64 %rd8, %rd4, %rd7; add.s64 %rd9, %rd5, %rd7; add.s64 %rd10, %rd6, %rd7;\n"
    "	ld.global.f32 %f1, [%rd8]; ld.global.f32 %f2, [%rd9]; add.f32 %f3, %f1, %f2; st.global.f32 [%rd10], %f3;\n"
    "done:\n	ret;\n"
    "}\n";

static void *cuda;

static void *
find(const char *name)
{
	void *f = dlsym(cuda, name);

	if (f == NULL) {
		fprintf(stderr, "vectoradd: libcuda.so.1 has no %s\n", name);
		exit(1);
	}
	return f;
}

/* Calls a function of libcuda's by its name; each returns 0 for success. */
#define CALL(name, types, ...) do { \
	int (*f)types = (int (*)types)find(name); \
	int status = f(__VA_ARGS__); \
	if (status != 0) { \
		fprintf(stderr, "vectoradd: %s: CUDA error %d\n", name, status); \
		return 1; \
	} \
} while (0)

int
main(void)
{
	static float a[N], b[N], c[N];
	unsigned long long da, db, dc;
	void *context, *module, *add;
	unsigned n = N, i;
	int device, devices;
	char name[128];
	struct timespec from, to;
	void *args[] = { &da, &db, &dc, &n };

	clock_gettime(CLOCK_MONOTONIC, &from);
	if ((cuda = dlopen("libcuda.so.1", RTLD_NOW)) == NULL) {
		fprintf(stderr, "vectoradd: %s\n", dlerror());
		return 1;
	}
	for (i = 0; i < N; i++) {
		a[i] = (float)i;
		b[i] = (float)(2 * i + 1);
	}
	CALL("cuInit", (unsigned), 0);
	CALL("cuDeviceGetCount", (int *), &devices);
	CALL("cuDeviceGet", (int *, int), &device, 0);
	CALL("cuDeviceGetName", (char *, int, int), name, (int)sizeof(name), device);
	CALL("cuCtxCreate_v2", (void **, unsigned, int), &context, 0, device);
	CALL("cuModuleLoadData", (void **, const void *), &module, kernel);
	CALL("cuModuleGetFunction", (void **, void *, const char *), &add, module, "add");
	CALL("cuMemAlloc_v2", (unsigned long long *, size_t), &da, sizeof(a));
	CALL("cuMemAlloc_v2", (unsigned long long *, size_t), &db, sizeof(b));
	CALL("cuMemAlloc_v2", (unsigned long long *, size_t), &dc, sizeof(c));
	CALL("cuMemcpyHtoD_v2", (unsigned long long, const void *, size_t), da, a, sizeof(a));
	CALL("cuMemcpyHtoD_v2", (unsigned long long, const void *, size_t), db, b, sizeof(b));
	CALL("cuLaunchKernel", (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
	    void **), add, N / 256, 1, 1, 256, 1, 1, 0, NULL, args, NULL);
	CALL("cuCtxSynchronize", (void));
	CALL("cuMemcpyDtoH_v2", (void *, unsigned long long, size_t), c, dc, sizeof(c));
	for (i = 0; i < N; i++)
		if (c[i] != a[i] + b[i]) {
			fprintf(stderr, "vectoradd: element %u is %f and should be %f\n", i, (double)c[i], (double)(a[i] + b[i]));
			return 1;
		}
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("vectoradd: %d elements are right, on the first of %d GPUs (%s), %ld ms\n", N, devices, name,
	    (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000);
	return 0;
}
