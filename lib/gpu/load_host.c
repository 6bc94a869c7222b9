// SPDX-License-Identifier: Apache-2.0
// See load_host.h.

#include "load_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COPY_FLOATS (1u << 16) // of a unit: 256 KiB, read and written
#define MATRIX_SIDE 32u
#define COPIES 64u // stretches each way: more than caches hold
#define MEASURED_UNITS 64u

const char *const gpu_load_names[] = {"spin", "copy", "matrix"};
_Static_assert(sizeof(gpu_load_names) / sizeof(*gpu_load_names) == GPU_LOAD_COUNT,
	       "a name for each");

static void copy(const struct gpu_host_load *load)
{
	float *from = load->memory + load->units % COPIES * COPY_FLOATS;
	memcpy(from + COPIES * COPY_FLOATS, from, COPY_FLOATS * sizeof(*from));
}

static void multiply(const struct gpu_host_load *load)
{
	const float *a = load->memory, *b = a + MATRIX_SIDE * MATRIX_SIDE;
	float *to = load->memory + 2 * MATRIX_SIDE * MATRIX_SIDE;
	for (uint32_t i = 0; i < MATRIX_SIDE; i++)
		for (uint32_t j = 0; j < MATRIX_SIDE; j++) {
			float sum = 0;
			for (uint32_t k = 0; k < MATRIX_SIDE; k++)
				sum += a[i * MATRIX_SIDE + k] * b[k * MATRIX_SIDE + j];
			to[i * MATRIX_SIDE + j] = sum;
		}
}

void gpu_host_load_unit(struct gpu_host_load *load)
{
	if (load->kind == GPU_LOAD_COPY)
		copy(load);
	else
		multiply(load);
	load->units++;
}

int gpu_host_load_init(struct gpu_host_load *load, enum gpu_load kind)
{
	*load = (struct gpu_host_load){.kind = kind};
	if (kind == GPU_LOAD_SPIN)
		return 0;
	load->memory = calloc(2 * COPIES * COPY_FLOATS, sizeof(*load->memory));
	if (load->memory == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < COPIES; i++) // the first turn finds its memory
		gpu_host_load_unit(load);
	int64_t begin_ns = gpu_clock_ns();
	for (uint32_t i = 0; i < MEASURED_UNITS; i++)
		gpu_host_load_unit(load);
	load->unit_ns = (gpu_clock_ns() - begin_ns) / MEASURED_UNITS + 1;
	load->units = 0;
	return 0;
}

void gpu_host_load_tell(const struct gpu_host_load *load, struct gpu_link_figures *figures)
{
	uint64_t side = MATRIX_SIDE;
	if (load->kind == GPU_LOAD_COPY)
		figures->load_bytes = load->units * COPY_FLOATS * sizeof(float);
	if (load->kind == GPU_LOAD_MATRIX)
		figures->load_flops = load->units * 2 * side * side * side;
}

void gpu_host_load_free(struct gpu_host_load *load)
{
	free(load->memory);
	load->memory = NULL;
}
