/*
 * System calls without a C library, for programs whose start must cost as little as possible.
 */
#ifndef GPUHELPER_TESTS_BENCH_BARE_H
#define GPUHELPER_TESTS_BENCH_BARE_H

#include <asm/unistd.h>

static inline long
bare_call(long nr, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
	    x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#else
#error "this machine's system calls are to be added here"
#endif
}

/* Where the kernel starts a program: calls start() with the stack as execve(2) left it. */
#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start\n\thlt\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x0, sp\n\tbl start\n\tbrk #1\n");
#endif

#endif
