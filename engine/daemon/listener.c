/* SPDX-License-Identifier: Apache-2.0
 *
 * listener.c - the TCP socket that the front serves.
 */
#include "daemon/listener.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

#define BACKLOG 1024

/* Who listens on every address is told to come by loopback. */
static void make_url(const struct sockaddr_storage *a, char *url, size_t size)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;
	char host[INET6_ADDRSTRLEN];

	if (a->ss_family == AF_INET6) {
		bool any = IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr);

		inet_ntop(AF_INET6, any ? &in6addr_loopback : &v6->sin6_addr, host, sizeof(host));
		snprintf(url, size, "http://[%s]:%u", host, ntohs(v6->sin6_port));
		return;
	}
	inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
	snprintf(url, size, "http://%s:%u", v4->sin_addr.s_addr == INADDR_ANY ? "127.0.0.1" : host,
		 ntohs(v4->sin_port));
}

int listener_open(const struct inisd_config *config, char *url, size_t size, struct inis_error *err)
{
	cleanup_close int fd =
		socket(config->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	struct sockaddr_storage bound;
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
	else
		make_url(&bound, url, size);
	return take_fd(&fd);
}
