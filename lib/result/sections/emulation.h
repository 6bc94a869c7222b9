// SPDX-License-Identifier: Apache-2.0
// The parts of the table that only a run with real frames or a clock has. A run in virtual time
// without either prints nothing here.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <weft/result/report.h>

// Whether the run had a clock, frames, or wrote a capture or a log.
bool emulation_has_pace(const struct report_input *input);
bool emulation_has_frames(const struct report_input *input);
bool emulation_has_taps(const struct report_input *input);

// Whether the ports handed out each frame that they took.
bool emulation_frames_agree(const struct report_ports *ports);

// The sections "Real frames" and "Pace".
void emulation_table(FILE *to, const struct report_input *input);

// What the short table says of both: the pace in a line, and what is wrong.
void emulation_short(FILE *to, const struct report_input *input);

// A line per capture or log.
void emulation_files(FILE *to, const struct report_input *input);
