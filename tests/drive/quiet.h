// SPDX-License-Identifier: Apache-2.0
// Watches over what a run may not do once it goes: a stand-in for malloc counts while it is told
// to, and the kernel ends the process at any system call (seccomp) but a few.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0
#endif

// ---------------------------------------------------------------- the watch over malloc

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *from, size_t bytes);

static volatile bool is_watching;
static volatile uint64_t calls;

static inline void note_call(void)
{
	if (is_watching)
		__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t bytes)
{
	note_call();
	return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	note_call();
	return __libc_calloc(count, bytes);
}

void *realloc(void *from, size_t bytes)
{
	note_call();
	return __libc_realloc(from, bytes);
}

// ---------------------------------------------------------------- the watch over system calls

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, steps) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (steps))
#define END(what) BPF_STMT(BPF_RET | BPF_K, (what))

// Whether this CPU and this kernel can end a process at a system call.
static inline bool can_forbid_calls(void)
{
	uint32_t action = SECCOMP_RET_KILL_PROCESS;
	return ARCHITECTURE != 0 && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// From here on any other call ends the process, in all of its threads; false when the kernel does
// not take the filter. `wakes`: lanes on other lcores are woken, and wait, through pipes.
static inline bool forbid_calls(bool wakes)
{
	struct sock_filter filter[] = {
		LOAD(arch),
		SKIP_UNLESS(ARCHITECTURE, 14),
		LOAD(nr),
		SKIP_UNLESS(SYS_write, 4),
		LOAD(args[0]), // a failed check says so on the standard error
		BPF_JUMP(BPF_JMP | (wakes ? BPF_JGE : BPF_JEQ) | BPF_K, wakes ? 0 : STDERR_FILENO,
			 0, 1),
		END(SECCOMP_RET_ALLOW),
		END(SECCOMP_RET_KILL_PROCESS),
		SKIP_UNLESS(SYS_exit_group, 1),
		END(SECCOMP_RET_ALLOW),
		SKIP_UNLESS(wakes ? SYS_read : SYS_exit_group, 1),
		END(SECCOMP_RET_ALLOW),
		SKIP_UNLESS(SYS_clock_gettime, 3), // of CPU time, at a run's two ends
		LOAD(args[0]),
		SKIP_UNLESS(CLOCK_PROCESS_CPUTIME_ID, 1),
		END(SECCOMP_RET_ALLOW),
		END(SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			&program) == 0;
}
