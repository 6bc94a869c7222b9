// SPDX-License-Identifier: Apache-2.0
// What may be tuned: keys of a scenario, each with a range or a list of words. A point of the space
// has one number in [0, 1] for each knob, which is what searches work with; its name says the
// values in the space's own units, so that two points with one name are the same setting.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUNE_KNOBS_MAX 24
#define TUNE_KEY_BYTES 48
#define TUNE_WORDS_MAX 16
#define TUNE_WORD_BYTES 32
#define TUNE_VALUE_BYTES 96
#define TUNE_NAME_BYTES 1024

// What a number counts in: the key's own unit, or what the scenario's fabric makes of it. NSCC
// scales by a, the bandwidth-delay product over 150 kB.
enum tune_base {
	TUNE_PLAIN,
	TUNE_RTT,
	TUNE_BDP,
	TUNE_MTU,
	TUNE_LINE,
	TUNE_A,
	TUNE_MTU_A,
	TUNE_PORT_BDP
};

// How a range is drawn from.
enum tune_scale { TUNE_LINEAR, TUNE_LOG, TUNE_WORDS };

// The bases of one scenario.
struct tune_fabric {
	double rtt_ps, bdp_bytes, mtu_bytes, line_bps;
	double port_bdp_bytes; // of one port, where a NIC has several
};

struct tune_knob {
	char key[TUNE_KEY_BYTES];
	enum tune_base base;
	enum tune_scale scale;
	bool is_whole;	  // a count
	double low, high; // ps, bytes, bits per second, parts per 10^9, or multiples of the base
	uint32_t word_count;
	char words[TUNE_WORDS_MAX][TUNE_WORD_BYTES];
	int above; // the knob, earlier in the list, that this one is always larger than; -1: none
	int gate;  // the knob, earlier, that has to have a word for this one to be set; -1: none
	uint32_t gate_word;
};

struct tune_space {
	uint32_t count;
	struct tune_knob knobs[TUNE_KNOBS_MAX];
};

// Adds a knob as the command line has it: "cc.target_delay=1us..20us", "cc.qa_gate=0..6",
// "transport.path=rotate,reps", "queue.ecn_low=0.05bdp..0.5bdp". Behind it may stand ":log" or
// ":linear" (without, a range whose ends are a factor of 8 or more apart is drawn on a log scale),
// ":above=KEY" (this one is always larger than that one) and ":when=KEY=WORD" (it is set only where
// that knob has that word). -EINVAL with the reason: an unknown key, unit or word, an empty range,
// a key that is there.
int tune_space_add(struct tune_space *space, const char *text, struct refusal *refusal);

// The value of knob `index` at a point, rounded to three digits: as tune_knob.low, or the index of
// a word. NAN when its gate is shut, or at[index] is NAN: the knob is left as it is.
double tune_space_value(const struct tune_space *space, const double *at, uint32_t index);

// "cc.target_delay=0.5rtt cc.qa_gate=3": the setting in the units of the space.
void tune_space_name(const struct tune_space *space, const double *at, char ret[TUNE_NAME_BYTES]);

// The same in absolute units, of knob `index` alone: "cc.target_delay=6250ns". False when its gate
// is shut.
bool tune_space_set(const struct tune_space *space, const double *at, uint32_t index,
		    const struct tune_fabric *fabric, char ret[TUNE_VALUE_BYTES]);

// How numbers are rounded.
enum tune_digits {
	TUNE_AS_FOUND,
	TUNE_ROUND, // as people set it: 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten
	TUNE_TWO_DIGITS,
};

// The same with the nearest such number of the range. Counts up to 10 are round.
bool tune_space_set_to(const struct tune_space *space, const double *at, uint32_t index,
		       const struct tune_fabric *fabric, enum tune_digits digits,
		       char ret[TUNE_VALUE_BYTES]);

// Where a value lies in its range, from 0 to 1, as the range is drawn from; words in their order.
// NAN: the knob is left as it is.
double tune_space_place(const struct tune_space *space, const double *at, uint32_t index);

// Whether that is an end: -1 at its lower end, 1 at its upper end, else 0. Words have no
// ends.
int tune_space_end(const struct tune_space *space, const double *at, uint32_t index);

// How many settings there are; UINT64_MAX when there are more, or the space is continuous.
uint64_t tune_space_settings(const struct tune_space *space);

// Reads the text of a space's file (docs/howto/tune.md) and gives what it says as words of the
// command line to `take`: "knob" or "off", and what stands behind it. -EINVAL with file, line,
// column and reason.
typedef int tune_word_fn(void *context, const char *option, const char *word,
			 struct refusal *refusal);
int tune_space_read(const char *path, const char *text, size_t bytes, tune_word_fn *take,
		    void *context, struct refusal *refusal);

// "1us to 20us, log" of a knob, or its words.
void tune_knob_text(const struct tune_knob *knob, char *ret, size_t bytes);

#ifdef __cplusplus
}
#endif
