/* SPDX-License-Identifier: Apache-2.0
 *
 * listener.c - the TCP socket that the front serves.
 */
#include "daemon/listener.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

#define BACKLOG 1024

/* Who listens on every address is told to come by loopback. */
static int make_url(const struct sockaddr *address, socklen_t n, char *url, size_t size, struct inis_error *err)
{
	char host[64];
	char port[8];

	if (getnameinfo(address, n, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return inis_fail(err, INIS_INTERNAL, "the listening address has no text form");
	if (strcmp(host, "0.0.0.0") == 0)
		snprintf(host, sizeof(host), "127.0.0.1");
	else if (strcmp(host, "::") == 0)
		snprintf(host, sizeof(host), "::1");
	snprintf(url, size, strchr(host, ':') ? "http://[%s]:%s" : "http://%s:%s", host, port);
	return 0;
}

int listener_open(const struct inisd_config *config, char *url, size_t size, struct inis_error *err)
{
	cleanup_close int fd =
		socket(config->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	struct sockaddr_storage bound = {0};
	socklen_t n = sizeof(bound);
	int on = 1;

	if (fd < 0)
		return inis_fail_errno(err, "socket for %s", config->listen);
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&config->address, config->address_size) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&bound, &n) < 0)
		return inis_fail_errno(err, "listen on %s", config->listen);
	if (config->base_url[0] != '\0')
		snprintf(url, size, "%s", config->base_url);
	else if (make_url((const struct sockaddr *)&bound, n, url, size, err) < 0)
		return -1;
	return take_fd(&fd);
}
