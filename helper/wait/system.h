/*
 * System calls of Linux on x86_64 and arm64, for a program without a C library (syscall(2), «Architecture calling
 * conventions»). Each returns what the kernel returns: -errno on failure.
 */
#ifndef GPUHELPER_WAIT_SYSTEM_H
#define GPUHELPER_WAIT_SYSTEM_H

#include <asm/unistd.h>

static inline long
sys4(long n, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#else
#error "this processor's system calls are not written down here: add them"
#endif
}

/* _start: calls waiter(STACK), where the kernel put argc, argv and the environment (the processors' ELF ABIs). */
#if defined(__x86_64__)
#define ENTRY __asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall waiter\n" \
    "\thlt\n")
#elif defined(__aarch64__)
#define ENTRY __asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tmov x0, sp\n\tbl waiter\n\tbrk #0\n")
#endif

#endif
