/* SPDX-License-Identifier: Apache-2.0
 *
 * listener.c - the abstract socket of the unit.
 *
 * Everything in the network namespace can connect to it, the guest too. Who is from outside shows in the peer's pid:
 * a process that this pid namespace does not know has none.
 */
#include "agent/listener.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/link.h"
#include "base/cleanup.h"
#include "base/wall.h"
#include "wire/agent_proto.h"

#define BACKLOG 128

static bool from_outside(int sock)
{
	struct ucred peer = {.pid = 1};
	socklen_t n = sizeof(peer);

	if (!WALL("agent.peer"))
		return true;
	/* Without a pid namespace of its own every peer has a pid here. */
	if (!WALL("ns.pid"))
		return true;
	return getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.pid == 0;
}

static void on_connection(struct inis_watch *w, uint32_t events)
{
	int sock = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (sock < 0) {
		/* Out of descriptors: do not spin on the connection that stays pending. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			usleep(1000);
		return;
	}
	if (from_outside(sock))
		link_accept(sock);
	else
		close(sock);
}

static struct inis_watch watch = INIS_WATCH_INIT(on_connection);

int listener_start(struct inis_error *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	cleanup_close int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	size_t n = strlen(INIS_AGENT_SOCKET);

	if (sock < 0)
		return inis_fail_errno(err, "socket");
	memcpy(addr.sun_path + 1, INIS_AGENT_SOCKET, n);
	if (bind(sock, (struct sockaddr *)&addr, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) < 0 ||
	    listen(sock, BACKLOG) < 0 || inis_watch_start(&agent.events, &watch, sock, EPOLLIN, err) < 0)
		return inis_fail_errno(err, "listen");
	take_fd(&sock);
	return 0;
}
