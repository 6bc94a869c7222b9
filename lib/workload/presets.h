// SPDX-License-Identifier: Apache-2.0
// What the tables of models and of jobs share.
#pragma once

#include <weft/plan.h>

extern const struct architecture llama_small, llama_405b, deepseek_v3, gpt_oss_20b, gpt3_175b,
	bert_large;

// Holds each size against its limits; the first part of plan_check().
int plan_check_sizes(const struct plan *plan, struct refusal *refusal);

// The step that was published for Azure's cluster comes out with `other`, aligned and with NICs at
// line rate.
#define TIMING_AZURE \
	{ \
		5300 * PS_PER_US, 9750 * PS_PER_US, 170534 * PS_PER_US, \
			"forward 5.3 ms and backward 9.75 ms fitted to step times of " \
			"NVIDIA's v5.1 " \
			"logs; the other 170.5 ms so that the published 1.2712 s comes out" \
	}

// From the medians of kept steps and of validation steps of two logs (weft mllog), nothing else:
// 3.18924 s and 1.08691 s with 199 slots of the pipeline, 2.22158 s and 0.75509 s with 135. The
// forward is the slope of the validation steps; backward and the rest make both steps come out.
#define TIMING_LOGS \
	{ \
		5184770 * PS_PER_NS, 9841030 * PS_PER_NS, 125745 * PS_PER_US, \
			"fitted to two logs of GB200, 2,560 and 5,120 GPUs with NICs " \
			"of 400 Gb/s" \
	}
