// SPDX-License-Identifier: Apache-2.0
// DPDK's environment, for those that link it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>

#ifdef __cplusplus
extern "C" {
#endif

// How DPDK's environment is started, by the first run whose ports need it.
struct dpdk_options {
	const char *const *words; // arguments of the EAL beside, or in place of, our own: no huge
				  // pages, no PCI devices, one lcore for each lane
	uint32_t word_count;
	uint32_t lanes;	  // lcores
	bool has_devices; // ports beside our own rings: whoever asks for them opens them
};

// Words of --eal.
#define DPDK_WORDS_MAX 32
struct dpdk_words {
	char text[1024];
	const char *at[DPDK_WORDS_MAX + 1]; // room for one of the caller's
	uint32_t count;
};

// Cuts `text` at spaces. -EINVAL with a reason.
int dpdk_words_cut(struct dpdk_words *ret, const char *text, struct refusal *refusal);

// Ends DPDK's environment, if it was started. It cannot be started again.
void dpdk_stop(void);

// A clock for pace_options: the CPU's time stamp counter. After the start.
int64_t dpdk_clock_ns(void *context);

// Runs `fn` with each of `count` contexts, the first here, the others on a lcore each, to the end.
void dpdk_run(void (*fn)(void *), void *const *contexts, uint32_t count);

#ifdef __cplusplus
}
#endif
