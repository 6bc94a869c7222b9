// SPDX-License-Identifier: Apache-2.0
// A launch script as the text of its flags: comments go, and what the script itself sets stands
// where it is used. Known of the shell: NAME=VALUE, $NAME, ${NAME}, ${NAME:-OTHERWISE}. All else
// stays as it is, so that a flag whose value is worked out is seen to be so.

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#define VARIABLES_MAX 256
#define VALUE_BYTES 256

struct script {
	struct {
		char name[64], value[VALUE_BYTES];
	} variables[VARIABLES_MAX];
	uint32_t count;
};

static size_t name_length(const char *text)
{
	size_t length = 0;
	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	return length;
}

static const char *value_of(const struct script *script, const char *name, size_t length)
{
	for (uint32_t i = script->count; i-- > 0;)
		if (strlen(script->variables[i].name) == length &&
		    strncmp(script->variables[i].name, name, length) == 0)
			return script->variables[i].value;
	return NULL;
}

// What begins with a dollar; returns how long it is, 0: nothing that is known here.
static size_t put_variable(const struct script *script, const char *text, FILE *to)
{
	bool has_braces = text[1] == '{';
	const char *name = text + (has_braces ? 2 : 1);
	size_t length = name_length(name);
	const char *value = value_of(script, name, length), *end = name + length;
	if (!has_braces) {
		if (length == 0 || value == NULL)
			return 0;
		fputs(value, to);
		return length + 1;
	}
	const char *close = strchr(end, '}');
	bool has_other = strncmp(end, ":-", 2) == 0;
	if (length == 0 || close == NULL || (close != end && !has_other) ||
	    (value == NULL && !has_other))
		return 0;
	for (const char *at = end + 2; value == NULL && at < close; at++)
		if (*at != '"' && *at != '\'')
			fputc(*at, to);
	if (value != NULL)
		fputs(value, to);
	return (size_t)(close + 1 - text);
}

// A line as it is used, without its comment; NULL: no memory.
static char *expand(const struct script *script, const char *line, size_t length)
{
	char *ret = NULL, quote = '\0';
	size_t bytes, step;
	FILE *to = open_memstream(&ret, &bytes);
	if (to == NULL)
		return NULL;
	for (size_t i = 0; i < length; i += step) {
		step = 1;
		if (line[i] == quote)
			quote = '\0';
		else if (quote == '\0' && (line[i] == '"' || line[i] == '\''))
			quote = line[i];
		if (quote == '\0' && line[i] == '#' &&
		    (i == 0 || isspace((unsigned char)line[i - 1])))
			break;
		size_t used = line[i] == '$' ? put_variable(script, line + i, to) : 0;
		if (used > 0)
			step = used;
		else
			fputc(line[i], to);
	}
	if (fclose(to) == 0)
		return ret;
	free(ret);
	return NULL;
}

// NAME=VALUE, unless the value is flags or a list of them.
static bool take_variable(struct script *script, const char *line)
{
	line += strspn(line, " \t");
	line += strncmp(line, "export ", 7) == 0 ? 7 : 0;
	size_t length = name_length(line);
	const char *value = line + length + 1;
	if (length == 0 || line[length] != '=' || script->count == VARIABLES_MAX ||
	    length >= sizeof(script->variables[0].name))
		return false;
	value += strspn(value, "\"'");
	size_t bytes = strcspn(value, " \t\r\"';");
	if (*value == '(' || *value == '-' || bytes == 0 || bytes >= VALUE_BYTES)
		return false;
	snprintf(script->variables[script->count].name, sizeof(script->variables[0].name), "%.*s",
		 (int)length, line);
	snprintf(script->variables[script->count++].value, VALUE_BYTES, "%.*s", (int)bytes, value);
	return true;
}

char *import_shell(const char *text)
{
	struct script *script = calloc(1, sizeof(*script));
	char *ret = NULL, *line;
	size_t bytes;
	FILE *to = script != NULL ? open_memstream(&ret, &bytes) : NULL;
	bool is_whole = to != NULL;
	for (; is_whole && *text != '\0'; text += text[0] == '\n') {
		size_t length = strcspn(text, "\n");
		line = expand(script, text, length);
		is_whole = line != NULL;
		if (is_whole && !take_variable(script, line))
			fprintf(to, "%s\n", line);
		free(line);
		text += length;
	}
	free(script);
	if (to != NULL && fclose(to) == 0 && is_whole)
		return ret;
	free(ret);
	return NULL;
}
