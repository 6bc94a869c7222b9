// SPDX-License-Identifier: Apache-2.0
// Places of a capture, by name.

#include <string.h>

#include "places.h"

uint32_t places_find(struct places *places, const struct capture_reader *reader,
		     const struct capture_interface *interface)
{
	char name[2 * CAPTURE_TEXT_BYTES];
	place_words(name, sizeof(name), reader, interface);
	for (uint32_t i = 0; i < places->count; i++)
		if (strcmp(places->names[i], name) == 0)
			return i;
	strcpy(places->names[places->count], name);
	return places->count++;
}
