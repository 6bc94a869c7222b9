// SPDX-License-Identifier: Apache-2.0
// Published jobs as plain tables.
// Facts: launch files and logs of MLPerf Training submissions: Azure v6.0 (8,192 GB200), NVIDIA
// v5.1 (2,560 and 5,120 GB200, the same cut), CoreWeave v6.0 (DeepSeek-V3 on 8,192 GB300), NVIDIA
// v6.0 (gpt-oss-20b on 512 GB300), NVIDIA v4.0 (GPT-3 on 11,616 H100). BERT is cut over replicas
// alone.
// Calibrated or assumed: all times, see their origins.

#include <stddef.h>
#include <string.h>

#include "presets.h"

const struct timing timing_from_logs = TIMING_LOGS;

#define BUCKET_PARAMS 134217728 // as the launch files set it

// The cut of all Llama runs on GB200; replicas and micro-batches differ.
#define LLAMA_CUT \
	.tp = 4, .cp = 2, .ep = 1, .pp = 8, .vpp = 8, .samples = 1, .sequence = 8192, \
	.layers_first = 1, .layers_last = 1, .vocab_grain = 1, .param_bytes = 2, \
	.activation_bytes = 2, .has_distributed_optimizer = true, .bucket_params = BUCKET_PARAMS, \
	.order = "tp-cp-ep-pp-dp"

static const struct plan azure = {
	.name = "llama-3.1-405b-azure",
	.architecture = &llama_405b,
	.parallel = {.dp = 128, .micro_batches = 8, .grad_bytes = 2, .is_aligned = true, LLAMA_CUT},
	.timing = TIMING_AZURE,
	.published_ps = 1271200 * PS_PER_US,
	.source = "press material on Azure's MLPerf v6.0 run, 128 racks",
};

static const struct plan azure_112 = {
	.name = "llama-3.1-405b-azure-112",
	.architecture = &llama_405b,
	.parallel = {.dp = 112, .micro_batches = 8, .grad_bytes = 2, .is_aligned = true, LLAMA_CUT},
	.timing = TIMING_AZURE,
	.published_ps = 1273400 * PS_PER_US,
	.source = "press material on 112 racks, beside Azure's MLPerf v6.0 run; no log",
};

static const struct plan azure_hook = {
	.name = "llama-3.1-405b-azure-hook",
	.architecture = &llama_405b,
	.parallel = {.dp = 128, .micro_batches = 8, .grad_bytes = 2, LLAMA_CUT},
	.timing = TIMING_AZURE,
};

static const struct plan azure_fp32 = {
	.name = "llama-3.1-405b-azure-fp32-gradients",
	.architecture = &llama_405b,
	.parallel = {.dp = 128, .micro_batches = 8, .grad_bytes = 4, .is_aligned = true, LLAMA_CUT},
	.timing = TIMING_AZURE,
};

static const struct plan gb200_5120 = {
	.name = "llama-3.1-405b-gb200-5120",
	.architecture = &llama_405b,
	.parallel = {.dp = 80, .micro_batches = 16, .grad_bytes = 2, .is_aligned = true, LLAMA_CUT},
	.timing = TIMING_LOGS,
};

static const struct plan gb200_2560 = {
	.name = "llama-3.1-405b-gb200-2560",
	.architecture = &llama_405b,
	.parallel = {.dp = 40, .micro_batches = 24, .grad_bytes = 2, .is_aligned = true, LLAMA_CUT},
	.timing = TIMING_LOGS,
};

bool plan_is_of_logs(const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel, *logs = &gb200_2560.parallel;
	return strcmp(plan->architecture->name, llama_405b.name) == 0 && cut->tp == logs->tp &&
		cut->cp == logs->cp && cut->pp == logs->pp && cut->vpp == logs->vpp &&
		cut->samples == logs->samples && cut->sequence == logs->sequence;
}

// Four layers and the embedding, fourteen cells of four, one layer and the output. What predicts a
// second token (one more layer) is not counted.
static const struct plan deepseek = {
	.name = "deepseek-v3-gb300-8192",
	.architecture = &deepseek_v3,
	.parallel = {.tp = 1,
		     .cp = 1,
		     .ep = 32,
		     .pp = 4,
		     .vpp = 4,
		     .dp = 2048,
		     .micro_batches = 8,
		     .samples = 1,
		     .sequence = 4096,
		     .layers_first = 4,
		     .layers_last = 1,
		     .vocab_grain = 1,
		     .grad_bytes = 2,
		     .param_bytes = 2,
		     .activation_bytes = 2,
		     .has_distributed_optimizer = true,
		     .bucket_params = BUCKET_PARAMS,
		     .is_aligned = true,
		     .order = "tp-cp-ep-dp-pp"},
	.timing = TIMING_DEEPSEEK,
	.published_ps = 1776 * PS_PER_MS,
	.source = "mean step of the logs of CoreWeave's MLPerf v6.0 run",
};

static const struct plan gpt_oss = {
	.name = "gpt-oss-20b-gb300-512",
	.architecture = &gpt_oss_20b,
	.parallel = {.tp = 2,
		     .cp = 4,
		     .ep = 8,
		     .pp = 1,
		     .vpp = 1,
		     .dp = 64,
		     .micro_batches = 1,
		     .samples = 1,
		     .sequence = 8192,
		     .vocab_grain = 1,
		     .grad_bytes = 2,
		     .param_bytes = 2,
		     .activation_bytes = 2,
		     .has_distributed_optimizer = true,
		     .bucket_params = BUCKET_PARAMS,
		     .order = "tp-cp-ep-dp-pp"},
	.timing = TIMING_ASSUMED(7400),
};

#define GPT3_CUT \
	.tp = 4, .cp = 1, .ep = 1, .samples = 1, .sequence = 2048, .vocab_grain = 128, \
	.grad_bytes = 2, .param_bytes = 2, .activation_bytes = 2, \
	.has_distributed_optimizer = true, .is_aligned = true, .order = "tp-cp-ep-dp-pp"

static const struct plan gpt3 = {
	.name = "gpt-3-175b-h100-11616",
	.architecture = &gpt3_175b,
	.parallel = {.pp = 6, .vpp = 8, .dp = 484, .micro_batches = 6, GPT3_CUT},
	.timing = TIMING_ASSUMED(9420),
};

// Of the size that press material claims. Nobody published such a run: 8 stages, so that it
// divides.
static const struct plan gpt3_8192 = {
	.name = "gpt-3-175b-h100-8192",
	.architecture = &gpt3_175b,
	.parallel = {.pp = 8, .vpp = 6, .dp = 256, .micro_batches = 8, GPT3_CUT},
	.timing = TIMING_ASSUMED(9420),
};

// As the model's paper has it (from memory); 4 virtual stages are assumed, it does not say how
// many.
static const struct plan meta = {
	.name = "llama-3-405b-meta-16384",
	.architecture = &llama_405b,
	.parallel = {.tp = 8,
		     .cp = 1,
		     .ep = 1,
		     .pp = 16,
		     .vpp = 4,
		     .dp = 128,
		     .micro_batches = 16,
		     .samples = 1,
		     .sequence = 8192,
		     .layers_first = 1,
		     .layers_last = 1,
		     .vocab_grain = 1,
		     .grad_bytes = 4,
		     .param_bytes = 2,
		     .activation_bytes = 2,
		     .has_distributed_optimizer = true,
		     .order = "tp-cp-ep-pp-dp"},
	.timing = TIMING_ASSUMED(32840),
};

static const struct plan bert = {
	.name = "bert-large-a100-4096",
	.architecture = &bert_large,
	.parallel = {.tp = 1,
		     .cp = 1,
		     .ep = 1,
		     .pp = 1,
		     .vpp = 1,
		     .dp = 4096,
		     .micro_batches = 1,
		     .samples = 1,
		     .sequence = 512,
		     .vocab_grain = 1,
		     .grad_bytes = 2,
		     .param_bytes = 2,
		     .activation_bytes = 2,
		     .order = "tp-cp-ep-dp-pp"},
	.timing = TIMING_ASSUMED(2760),
};

// Made up, to hold the depths of a step against each other: the cut of the Llama runs in small.
static const struct plan small = {
	.name = "llama-small",
	.architecture = &llama_small,
	.parallel = {.tp = 2,
		     .cp = 2,
		     .ep = 1,
		     .pp = 2,
		     .vpp = 4,
		     .dp = 4,
		     .micro_batches = 4,
		     .samples = 1,
		     .sequence = 2048,
		     .layers_first = 1,
		     .layers_last = 1,
		     .vocab_grain = 1,
		     .grad_bytes = 2,
		     .param_bytes = 2,
		     .activation_bytes = 2,
		     .has_distributed_optimizer = true,
		     .bucket_params = 1 << 22,
		     .is_aligned = true,
		     .order = "tp-cp-ep-pp-dp"},
	.timing = {400 * PS_PER_US, 750 * PS_PER_US, 2 * PS_PER_MS,
		   "nothing: forward 0.4 ms, backward 0.75 ms and 2 ms of other are made up", true},
};

// Experts of a layer over 8 GPUs of two racks: their tokens are on the fabric.
static const struct plan moe = {
	.name = "moe-small",
	.architecture = &moe_small,
	.parallel = {.tp = 2,
		     .cp = 1,
		     .ep = 8,
		     .pp = 2,
		     .vpp = 2,
		     .dp = 8,
		     .micro_batches = 2,
		     .samples = 1,
		     .sequence = 1024,
		     .vocab_grain = 1,
		     .grad_bytes = 2,
		     .param_bytes = 2,
		     .activation_bytes = 2,
		     .has_distributed_optimizer = true,
		     .bucket_params = 1 << 22,
		     .is_aligned = true,
		     .order = "tp-cp-ep-dp-pp"},
	.timing = {400 * PS_PER_US, 750 * PS_PER_US, 2 * PS_PER_MS,
		   "nothing: forward 0.4 ms, backward 0.75 ms and 2 ms of other are made up", true},
};

const struct plan *const plan_all[] = {
	&azure, &azure_112, &azure_hook, &azure_fp32, &gb200_5120, &gb200_2560, &deepseek, &gpt_oss,
	&gpt3,	&gpt3_8192, &bert,	 &meta,	      &small,	   &moe,	NULL};
