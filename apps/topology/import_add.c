// SPDX-License-Identifier: Apache-2.0
// How all formats refuse. See import.h.
#include "import.h"

#include <errno.h>
#include <stdarg.h>

int import_refuse(const struct import *import, struct refusal *refusal, uint32_t line,
		  const char *format, ...)
{
	*refusal = (struct refusal){.line = line};
	snprintf(refusal->file, sizeof(refusal->file), "%s", import->path);
	va_list words;
	va_start(words, format);
	vsnprintf(refusal->text, sizeof(refusal->text), format, words);
	va_end(words);
	return -EINVAL;
}
