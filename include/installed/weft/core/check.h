// SPDX-License-Identifier: Apache-2.0
// check() guards against our own bugs. It is always compiled in: a wrong number costs more than a
// branch. Bad input is never a check (that is a refusal, see refusal.h), and neither is a lost
// packet (that is counted).
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Prints file, line, condition, seed and virtual time, then ends the program (exit 70). Defined by
// the driver's floor.
void check_failed(const char *file, int line, const char *condition) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#define check(condition) \
	do { \
		if (__builtin_expect(!(condition), 0)) \
			check_failed(__FILE__, __LINE__, #condition); \
	} while (0)
