// SPDX-License-Identifier: Apache-2.0
// The text of --help, made at build time from the program's help.txt.
#pragma once

extern const char help_text[];
