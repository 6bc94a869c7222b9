// SPDX-License-Identifier: Apache-2.0
// What the figures of a job, of a scenario or of a result rest on.
#pragma once

// Where a figure comes from; every input of a result is listed as one of these.
enum input_origin { INPUT_FACT, INPUT_ASSUMED, INPUT_CALIBRATED, INPUT_ORIGIN_COUNT };

#define PLAN_INPUTS_MAX 24

// What some figures of a job rest on.
struct plan_input {
	char of[96]; // keys or sections of its file, between blanks: "cut step.sequence"
	enum input_origin origin;
	char text[200];
};
