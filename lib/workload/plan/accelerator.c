// SPDX-License-Identifier: Apache-2.0
// The table of devices. Rates are dense: half of what a sheet gives with sparsity. A domain's rate
// is one way: half of what a sheet sums over both.

#include <stddef.h>

#include <weft/workload/accelerator.h>

#define TERA UINT64_C(1000000000000)
#define GIGA UINT64_C(1000000000)
#define GIB (UINT64_C(1) << 30)

// name; dense 10^12 operations a second in bf16, fp8, fp4; memory; its rate; domain; its rate one
// way; NIC; source
static const struct accelerator devices[] = {
	{"A100",
	 {312 * TERA, 0, 0},
	 80 * GIGA,
	 2039 * GIGA,
	 8,
	 300 * GIGA,
	 200 * GIGA,
	 "NVIDIA A100 80GB SXM data sheet; DGX A100: 8 GPUs, NICs of 200 Gb/s"},
	{"H100",
	 {989 * TERA, 1979 * TERA, 0},
	 80 * GIGA,
	 3350 * GIGA,
	 8,
	 450 * GIGA,
	 400 * GIGA,
	 "NVIDIA H100 SXM data sheet; DGX H100: 8 GPUs, NICs of 400 Gb/s"},
	{"H200",
	 {989 * TERA, 1979 * TERA, 0},
	 141 * GIGA,
	 4800 * GIGA,
	 8,
	 450 * GIGA,
	 400 * GIGA,
	 "NVIDIA H200 SXM data sheet; DGX H200: 8 GPUs, NICs of 400 Gb/s"},
	{"B200",
	 {2250 * TERA, 4500 * TERA, 9000 * TERA},
	 180 * GIGA,
	 8000 * GIGA,
	 8,
	 900 * GIGA,
	 400 * GIGA,
	 "NVIDIA DGX B200 data sheet: 8 GPUs, 1,440 GB, 64 TB/s, NICs of 400 Gb/s"},
	{"GB200",
	 {2500 * TERA, 5000 * TERA, 10000 * TERA},
	 186 * GIGA,
	 8000 * GIGA,
	 72,
	 900 * GIGA,
	 400 * GIGA,
	 "NVIDIA GB200 NVL72 data sheet: 72 GPUs, 13.4 TB, 576 TB/s, NICs of 400 Gb/s"},
	{"GB300",
	 {2500 * TERA, 5000 * TERA, 15000 * TERA},
	 279 * GIGA,
	 8000 * GIGA,
	 72,
	 900 * GIGA,
	 800 * GIGA,
	 "NVIDIA GB300 NVL72 data sheet: 72 GPUs, 20 TB, 576 TB/s, NICs of 800 Gb/s"},
	{"MI300X",
	 {13074 * TERA / 10, 26149 * TERA / 10, 0},
	 192 * GIGA,
	 5300 * GIGA,
	 8,
	 448 * GIGA,
	 400 * GIGA,
	 "AMD Instinct MI300X data sheet: 7 links of 128 GB/s; assumed: NICs of 400 Gb/s"},
	{"MI355X",
	 {2500 * TERA, 5000 * TERA, 10000 * TERA},
	 288 * GIGA,
	 8000 * GIGA,
	 8,
	 5376 * GIGA / 10,
	 400 * GIGA,
	 "AMD Instinct MI355X data sheet; assumed: 7 links of 153.6 GB/s, NICs of 400 Gb/s"},
	{"TPU-v5p",
	 {459 * TERA, 459 * TERA, 0},
	 95 * GIB,
	 2765 * GIGA,
	 8960,
	 600 * GIGA,
	 50 * GIGA,
	 "Google Cloud TPU v5p documentation: 95 GiB, 2,765 GB/s, 1,200 GB/s both ways, 50 Gb/s"},
	{"Trainium2",
	 {667 * TERA, 1299 * TERA, 0},
	 96 * GIB,
	 2900 * GIGA,
	 16,
	 640 * GIGA,
	 200 * GIGA,
	 "AWS Neuron documentation, Trainium2 and Trn2: 16 chips, 3.2 Tb/s; assumed: 1.28 TB/s are "
	 "both ways"},
};

const struct accelerator *accelerator_at(uint32_t index)
{
	return index < sizeof(devices) / sizeof(*devices) ? &devices[index] : NULL;
}
