// SPDX-License-Identifier: Apache-2.0
// A capture made byte by byte, and a reader of it.
#pragma once

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/capture/capture_reader.h>

#define S INT64_C(1000000000)

// A file that is being written, and how it is read.
static struct file {
	uint8_t bytes[1 << 18];
	size_t size, at;
	size_t step;   // a read gives so many at most
	int64_t error; // at the end
	bool is_big;
} file;
static struct capture_reader reader;
static struct refusal refusal;

static int64_t read_some(void *context, void *to, size_t bytes)
{
	struct file *from = context;
	size_t left = from->size - from->at, step = bytes < from->step ? bytes : from->step;
	if (left == 0)
		return from->error;
	step = step < left ? step : left;
	memcpy(to, from->bytes + from->at, step);
	from->at += step;
	return (int64_t)step;
}

static void begin(bool is_big)
{
	file = (struct file){.is_big = is_big, .step = sizeof(file.bytes)};
}

static void put(size_t bytes, uint64_t value)
{
	for (size_t i = 0; i < bytes; i++)
		file.bytes[file.size + (file.is_big ? bytes - 1 - i : i)] = (uint8_t)(value >>
										      8 * i);
	file.size += bytes;
}

static int open_in(size_t capacity)
{
	free(reader.buffer);
	reader.buffer = malloc(capacity);
	reader.capacity = capacity;
	reader.read = read_some;
	reader.context = &file;
	file.at = 0;
	return capture_begin(&reader, &refusal);
}

static int open_file(void)
{
	return open_in(4096);
}
