// SPDX-License-Identifier: Apache-2.0
// See command.h.

#include <weft/run/host_info.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void command_text(const char *program, int argc, char **argv, char *ret, uint32_t bytes)
{
	uint32_t used = (uint32_t)snprintf(ret, bytes, "weft %s", program);
	for (int i = 1; i < argc && used < bytes; i++) {
		bool is_plain = argv[i][0] != '\0' &&
			strspn(argv[i],
			       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			       "0123456789-_=./,:%@+") == strlen(argv[i]);
		used += (uint32_t)snprintf(ret + used, bytes - used, is_plain ? " %s" : " '%s'",
					   argv[i]);
	}
}
