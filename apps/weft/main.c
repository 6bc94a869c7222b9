// SPDX-License-Identifier: Apache-2.0
// weft <command>: finds weft-<command> and becomes it. Nothing else: each command parses its own
// arguments and has its own help.

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "help.h"
#include "weft_version.h"

// Where commands are looked for, relative to the folder of this program.
static const char *const places[] = {"", "../libexec/weft/"};

enum { EXIT_BAD_INPUT = 2, EXIT_ENVIRONMENT = 3 };

// The folder of this program with a slash at its end; empty when the system does not tell.
static void own_folder(char ret[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", ret, PATH_MAX - 1);
	ret[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(ret, '/');
	if (slash != NULL)
		slash[1] = '\0';
	else
		ret[0] = '\0';
}

// Becomes weft-<command>. Returns only when that failed, with the first reason that is not "there
// is none".
static int become(const char *command, char **arguments)
{
	char folder[PATH_MAX], file[2 * PATH_MAX];
	int reason = ENOENT;
	own_folder(folder);
	for (size_t i = 0; folder[0] != '\0' && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(file, sizeof(file), "%s%sweft-%s", folder, places[i], command);
		execv(file, arguments);
		if (errno != ENOENT && reason == ENOENT)
			reason = errno;
	}
	snprintf(file, sizeof(file), "weft-%s", command);
	execvp(file, arguments);
	return reason == ENOENT ? errno : reason;
}

static void list_commands(FILE *to)
{
	fputs("commands:\n", to);
	for (const struct command *command = commands; command->name != NULL; command++)
		fprintf(to, "    %-10s %s\n", command->name, command->summary);
}

// Whether it can be part of a file's name: nothing that leads to another folder.
static bool is_name(const char *word)
{
	return word[0] != '\0' && word[0] != '-' && word[0] != '.' && strchr(word, '/') == NULL &&
		strlen(word) < NAME_MAX - strlen("weft-");
}

static int run_command(const char *command, char **arguments)
{
	int reason = is_name(command) ? become(command, arguments) : ENOENT;
	if (reason != ENOENT) {
		fprintf(stderr, "weft: weft-%s: %s\n", command, strerror(reason));
		return EXIT_ENVIRONMENT;
	}
	fprintf(stderr, "weft: '%s' is not a command\n", command);
	list_commands(stderr);
	return EXIT_BAD_INPUT;
}

// Ends with 0 only when the text was written whole.
static int print(const char *text)
{
	if (fputs(text, stdout) < 0 || fflush(stdout) != 0) {
		fprintf(stderr, "weft: cannot write: %s\n", strerror(errno));
		return EXIT_ENVIRONMENT;
	}
	return EXIT_SUCCESS;
}

int main(int count, char **arguments)
{
	if (count < 2) {
		fputs("usage: weft <command> [arguments]\n", stderr);
		list_commands(stderr);
		return EXIT_BAD_INPUT;
	}
	const char *first = arguments[1];
	if (strcmp(first, "--version") == 0)
		return print(WEFT_VERSION_TEXT "\n");
	bool is_help = strcmp(first, "help") == 0;
	if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || (is_help && count == 2))
		return print(help_text);
	if (is_help) {
		char *ask[] = {arguments[2], "--help", NULL};
		return run_command(arguments[2], ask);
	}
	return run_command(first, arguments + 1);
}
