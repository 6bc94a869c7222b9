// SPDX-License-Identifier: Apache-2.0
// The commands of this build, made at build time from the NAME sections of all help.txt files.
#pragma once

struct command {
	const char *name;    // "sim"; NULL ends the list
	const char *summary; // one line
};

extern const struct command commands[];

// What `weft completion bash` and `weft completion zsh` print, made of the rules in them.
extern const char completion_bash[], completion_zsh[];
