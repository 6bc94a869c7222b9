// SPDX-License-Identifier: Apache-2.0
// What the tables of models and of jobs share.
#pragma once

#include <weft/workload/plan.h>

extern const struct architecture llama_small, moe_small, llama_405b, deepseek_v3, gpt_oss_20b,
	gpt3_175b, bert_large;

// Holds each size against its limits; the first part of plan_check().
int plan_check_sizes(const struct plan *plan, struct refusal *refusal);

// The step that was published for Azure's cluster comes out with `other`, aligned and with NICs at
// line rate.
#define TIMING_AZURE \
	{ \
		5300 * PS_PER_US, 9750 * PS_PER_US, 170534 * PS_PER_US, \
			"forward 5.3 ms and backward 9.75 ms fitted to step times of " \
			"NVIDIA's v5.1 " \
			"logs; the other 170.5 ms so that the published 1.2712 s comes out", \
			false \
	}

// DeepSeek-V3 on 8,192 GB300: the logs' mean step of 1.776 s comes out. One figure, so one unknown:
// nothing is held to be other time, and a backward is held to take twice a forward.
#define TIMING_DEEPSEEK \
	{ \
		16146 * PS_PER_US, 32292 * PS_PER_US, 0, \
			"forward and backward set so that the logs' mean step of 1.776 s comes " \
			"out; assumed: backward twice as long as forward, no other time", \
			false \
	}

// Nobody published steps of these: from the operations of a forward, 2 a parameter and token, at
// 40 % of what the GPU's maker says (989 T/s of H100 and 312 T/s of A100 in 16 bits, 2,500 T/s of
// GB300 in 8 bits, dense); twice that for a backward. Assumed.
#define TIMING_ASSUMED(forward_us) \
	{ \
		(forward_us) * PS_PER_US, 2 * (forward_us)*PS_PER_US, 0, \
			"2 operations a parameter and token at 40 % of the GPU's " \
			"nominal rate forward, twice that backward, no other time", \
			true \
	}

// From the medians of kept steps and of validation steps of two logs (weft mllog), nothing else:
// 3.18924 s and 1.08691 s with 199 slots of the pipeline, 2.22158 s and 0.75509 s with 135. The
// forward is the slope of the validation steps; backward and the rest make both steps come out.
#define TIMING_LOGS \
	{ \
		5184770 * PS_PER_NS, 9841030 * PS_PER_NS, 125745 * PS_PER_US, \
			"fitted to two logs of GB200, 2,560 and 5,120 GPUs with NICs " \
			"of 400 Gb/s", \
			false \
	}
