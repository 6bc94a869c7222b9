// SPDX-License-Identifier: Apache-2.0
// What is known of failures of training jobs, and of how they are recovered from: tables, each row
// with its source.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum origin { ORIGIN_FACT, ORIGIN_DERIVED, ORIGIN_ASSUMED };

// How a failure shows.
enum sign {
	SIGN_CRASH,	// a process ends
	SIGN_HANG,	// nothing ends, nothing goes on
	SIGN_TRANSPORT, // connections give up
	SIGN_CABLE,	// connections give up, or go another way
	SIGN_FLAP,	// as a cable, but it comes back by itself
};

// One component. Its rate is `count` failures in FACTS_GPU_DAYS.
struct component {
	const char *name, *text;
	uint32_t count;
	enum sign sign;
	bool takes_host; // which is repaired, and replaced meanwhile
};

#define COMPONENTS_MAX 24
#define FACTS_GPU_DAYS (54.0 * 16384)

// Ends with a name of NULL.
extern const struct component components[];
extern const char *const components_source;

// Rates of another system: so many failures in all per million GPU-days, in the proportions of
// `components`. 0: as they are.
struct rates {
	const char *name, *source;
	double per_million_gpu_days;
	enum origin origin;
};
extern const struct rates rates_all[];

// How failures are noticed and the job starts again.
struct recovery {
	const char *name, *source;
	double crash_s, hang_s, restart_s;
};
extern const struct recovery recoveries[];

// What the program takes when it is not given, beside these tables; ends with a text of NULL.
struct assumption {
	enum origin origin;
	const char *text;
};
extern const struct assumption assumptions[];

#define DEFAULT_OUTAGE_S 14400.0
#define DEFAULT_FLAP_S 12.0
#define DEFAULT_REPAIR_S 86400.0
#define DEFAULT_IB_TIMEOUT 20
#define DEFAULT_IB_RETRY 7
#define CHECKPOINT_BYTES_PER_PARAM 14.0
#define STORAGE_BPS 2e12 // bytes
