// SPDX-License-Identifier: Apache-2.0
// See command.h.

#include <weft/run/host_info.h>

#include <stdio.h>
#include <string.h>

#include <weft/result/report_escape.h>

void command_text(const char *program, int argc, char **argv, char *ret, uint32_t bytes)
{
	uint32_t used = (uint32_t)snprintf(ret, bytes, "weft %s", program);
	for (int i = 1; i < argc && used < bytes; i++) {
		used += (uint32_t)snprintf(ret + used, bytes - used, " ");
		if (used < bytes)
			escape_shell(ret + used, bytes - used, argv[i]);
		used += (uint32_t)strlen(ret + used);
	}
}
