// SPDX-License-Identifier: Apache-2.0

#include "facts.h"

#include <stddef.h>

const char *const components_source =
	"unexpected interruptions of 54 days on 16,384 H100: Grattafiori et al., The Llama 3 Herd "
	"of Models (2024), table 5; flap: no source gives a rate";

// What of a host breaks is repaired with the host; software takes none.
const struct component components[] = {
	{"gpu", "faulty GPU, NVLink among it", 148, SIGN_CRASH, true},
	{"hbm", "GPU HBM3 memory", 72, SIGN_CRASH, true},
	{"software", "software bug", 54, SIGN_CRASH, false},
	{"network", "network switch or cable", 35, SIGN_CABLE, true},
	{"maintenance", "host maintenance, unplanned", 32, SIGN_CRASH, true},
	{"sram", "GPU SRAM memory", 19, SIGN_CRASH, true},
	{"gsp", "GPU system processor", 17, SIGN_CRASH, true},
	{"nic", "NIC", 7, SIGN_TRANSPORT, true},
	{"watchdog", "NCCL watchdog, cause unknown", 7, SIGN_HANG, false},
	{"sdc", "silent data corruption", 6, SIGN_CRASH, true},
	{"thermal", "GPU thermal interface and sensor", 6, SIGN_CRASH, true},
	{"ssd", "SSD", 3, SIGN_CRASH, true},
	{"power", "power supply", 3, SIGN_CRASH, true},
	{"chassis", "server chassis", 2, SIGN_CRASH, true},
	{"io-board", "IO expansion board", 2, SIGN_CRASH, true},
	{"dependency", "dependency", 2, SIGN_CRASH, false},
	{"cpu", "CPU", 2, SIGN_CRASH, true},
	{"memory", "system memory", 2, SIGN_CRASH, true},
	{"flap", "link that flaps", 0, SIGN_FLAP, false},
	{NULL, NULL, 0, SIGN_CRASH, false},
};

const struct rates rates_all[] = {
	{"llama-3", "Llama 3 405B, 54 days on 16,384 H100, table 5", 0, ORIGIN_FACT},
	{"rsc-1",
	 "Meta RSC-1, A100: 6.5 failures per 1,000 node-days of 8 GPUs (Kokolis et al., HPCA 2025, "
	 "second-hand); in Llama 3's proportions (assumed)",
	 812.5, ORIGIN_DERIVED},
	{"rsc-2",
	 "Meta RSC-2, A100: 2.3 failures per 1,000 node-days of 8 GPUs (Kokolis et al., HPCA 2025, "
	 "second-hand); in Llama 3's proportions (assumed)",
	 287.5, ORIGIN_DERIVED},
	{NULL, NULL, 0, ORIGIN_FACT},
};

const struct recovery recoveries[] = {
	{"nvrx-in-process",
	 "NVIDIA Resiliency Extension, defaults: heartbeat 30 s, hard progress timeout 90 s, "
	 "barrier "
	 "120 s; that connections and graphs are made anew within the barrier's time is assumed",
	 30, 90, 120},
	{"nvrx-in-job",
	 "NVIDIA Resiliency Extension, defaults: checks each 5 s, rank heartbeat timeout 2700 s, "
	 "restart check 60 s, GPU memory reclaimed in at most 50 s; then 521 s of warm-up, of "
	 "Azure's "
	 "MLPerf v6.0 log",
	 5, 2700, 60 + 50 + 521},
	{"new-job",
	 "PyTorch's default timeout of NCCL groups, 600 s, finds hangs; 521 s of warm-up (Azure's "
	 "MLPerf v6.0 log); 30 s until an end is noticed and 300 s of a scheduler are assumed",
	 30, 600, 300 + 521},
	{NULL, NULL, 0, 0, 0},
};

const struct assumption assumptions[] = {
	{ORIGIN_ASSUMED, "rates go with GPUs, whatever their kind: those of H100 hold for others"},
	{ORIGIN_ASSUMED,
	 "each published count ended its job, with RoCE; what RoCE survived there was not counted, "
	 "and is not here"},
	{ORIGIN_ASSUMED, "failures are independent and come at a constant rate"},
	{ORIGIN_ASSUMED,
	 "with MRC each cable or switch that fails costs one port of one NIC of a group, and rings "
	 "split evenly: the slowest of what one plane can lose; all NICs of a switch lose no more"},
	{ORIGIN_ASSUMED,
	 "a dead NIC ends the job with either transport, once connections have given up"},
	{ORIGIN_ASSUMED, "RoCE has one path and no second port (bonded ports would survive one)"},
	{ORIGIN_FACT,
	 "RoCE gives up after retries x 4.096 us x 2^timeout; NCCL's defaults are 20, 7"},
	{ORIGIN_ASSUMED,
	 "checkpoints stop the job: 14 bytes a parameter (2, and 12 of master copy and moments)"},
	{ORIGIN_FACT, "2 TB/s of storage (Llama 3's, sustained; taken for this system: assumed)"},
	{0, NULL},
};
