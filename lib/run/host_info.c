// SPDX-License-Identifier: Apache-2.0
#include <weft/run/host_info.h>

#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void host_info(struct junit_origin *ret)
{
	time_t now = time(NULL);
	struct tm at = {0};
	if (gethostname(ret->host, sizeof(ret->host)) != 0 || ret->host[0] == '\0')
		strcpy(ret->host, "localhost");
	ret->host[sizeof(ret->host) - 1] = '\0';
	gmtime_r(&now, &at);
	strftime(ret->time, sizeof(ret->time), "%Y-%m-%dT%H:%M:%S", &at);
}

void program_exec(const char *program, char **argv)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	path[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(path, '/');
	if (slash == NULL || strcmp(slash + 1, program) == 0 ||
	    (size_t)(slash + 1 - path) + strlen(program) >= PATH_MAX)
		return;
	strcpy(slash + 1, program);
	execv(path, argv);
}
