// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. Each function fills a struct text and returns its characters, so
// that a line of printf can use several of them.
#pragma once

#include <stdint.h>

#include <weft/core/time.h>

struct text {
	char at[48];
};

// "1,234,567"
const char *number_grouped(struct text *ret, uint64_t value);

// Exact below ten million, then in millions: "9,999,999", "17.2 M", "51,000 M".
const char *number_count(struct text *ret, uint64_t value);

// "512 B", "3.19 GB" (powers of ten, as nccl-tests counts bytes).
const char *number_bytes(struct text *ret, uint64_t bytes);

// "1.50 MiB": memory, powers of two.
const char *number_memory(struct text *ret, uint64_t bytes);

// "823 ns", "12.35 ms": four digits.
const char *number_time(struct text *ret, ps_t time_ps);

// "397.12 Gb/s"
const char *number_rate(struct text *ret, double bits_per_s);

// "0.012 %"
const char *number_share(struct text *ret, double share);
