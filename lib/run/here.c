// SPDX-License-Identifier: Apache-2.0
#include <weft/run/here.h>

#include <string.h>
#include <time.h>
#include <unistd.h>

void here(struct junit_origin *ret)
{
	time_t now = time(NULL);
	struct tm at = {0};
	if (gethostname(ret->host, sizeof(ret->host)) != 0 || ret->host[0] == '\0')
		strcpy(ret->host, "localhost");
	ret->host[sizeof(ret->host) - 1] = '\0';
	gmtime_r(&now, &at);
	strftime(ret->time, sizeof(ret->time), "%Y-%m-%dT%H:%M:%S", &at);
}
