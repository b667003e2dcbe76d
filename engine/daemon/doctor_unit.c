/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_unit.c - the doctor as the supervisor and the front of a broker of its own, with a state directory that is
 * thrown away.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon/children.h"
#include "daemon/doctor.h"
#include "os/fd.h"
#include "wire/broker_proto.h"

#define PATIENCE_MS 20000
#define UNIT_MEM_MB 256
#define UNIT_PIDS   64

struct patient {
	struct inisd_config config; /* of the one server this is */
	struct state state;
	struct programs programs;
	pid_t broker;
	int control;
	int front;
	uint64_t request;
};

static int receive(int sock, void *data, size_t n, int *fd, struct inis_error *err)
{
	struct pollfd ready = {.fd = sock, .events = POLLIN};
	size_t fds = 0;
	ssize_t got;

	if (poll(&ready, 1, PATIENCE_MS) != 1)
		return inis_fail(err, INIS_UNAVAILABLE, "the broker did not answer within %d s", PATIENCE_MS / 1000);
	got = inis_packet_recv(sock, data, n, fd, fd ? 1 : 0, &fds, err);
	if (got < 0)
		return -1;
	return got == (ssize_t)n ? 0 : inis_fail(err, INIS_INTERNAL, "the broker ended");
}

static int start_broker(struct patient *p, struct inis_error *err)
{
	struct inis_broker_started started;
	cleanup_close int theirs = -1;
	char byte = 0;
	int pair[2];

	p->broker = broker_start(&p->programs, &p->config, &p->state, &p->control, err);
	if (p->broker < 0 || receive(p->control, &started, sizeof(started), NULL, err) < 0)
		return -1;
	started.message[sizeof(started.message) - 1] = '\0';
	if (started.code != INIS_OK)
		return inis_fail(err, inis_code_from_wire(started.code), "%s", started.message);
	if (inis_packet_pair(pair, err) < 0)
		return -1;
	p->front = pair[0];
	theirs = pair[1];
	return inis_packet_send(p->control, &byte, sizeof(byte), &theirs, 1, err);
}

/* Sends msg and waits for its reply, which replaces it. */
static int ask(struct patient *p, struct inis_broker_msg *msg, struct inis_error *err)
{
	cleanup_close int fd = -1;
	struct inis_broker_msg raw;

	if (inis_packet_send(p->front, msg, sizeof(*msg), NULL, 0, err) < 0)
		return -1;
	do {
		close_fd(&fd);
		if (receive(p->front, &raw, sizeof(raw), &fd, err) < 0 ||
		    inis_broker_msg_check(&raw, sizeof(raw), msg, err) < 0)
			return -1;
	} while (msg->request != p->request);
	return msg->code == INIS_OK ? 0 : inis_fail(err, inis_code_from_wire(msg->code), "%s", msg->message);
}

static int change(struct patient *p, enum inis_broker_verb verb, const struct unit_id *id, struct inis_error *err)
{
	struct inis_broker_msg msg;

	inis_broker_msg_init(&msg, verb, ++p->request);
	msg.unit_id = *id;
	return ask(p, &msg, err);
}

static int live_once(struct patient *p, struct inis_error *err)
{
	struct inis_broker_msg msg;
	struct unit_id id;

	inis_broker_msg_init(&msg, INIS_B_CREATE, ++p->request);
	msg.u.create.vcpus = 1;
	msg.u.create.mem_mb = UNIT_MEM_MB;
	msg.u.create.pids_max = UNIT_PIDS;
	msg.u.create.disk_mb = (uint32_t)p->config.disk_mb;
	if (session_id_new(&msg.u.create.session, err) < 0 || ask(p, &msg, err) < 0)
		return -1;
	id = msg.unit_id;
	if (change(p, INIS_B_FREEZE, &id, err) < 0 || change(p, INIS_B_THAW, &id, err) < 0)
		return -1;
	return change(p, INIS_B_DESTROY, &id, err);
}

static void end_broker(struct patient *p)
{
	close_fd(&p->front);
	if (p->broker > 0) {
		/* In order: it removes its pool. */
		kill(p->broker, SIGTERM);
		waitpid(p->broker, NULL, 0);
	}
	close_fd(&p->control);
	state_close(&p->state);
}

static int try_unit(void *ctx, struct inis_error *err)
{
	struct patient *p = ctx;
	int rc = -1;

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (programs_find(&p->programs, err) < 0 || state_open(&p->state, &p->config, err) < 0)
		return -1;
	if (start_broker(p, err) == 0)
		rc = live_once(p, err);
	end_broker(p);
	return rc;
}

void inisd_doctor_unit(struct doctor_report *r, const struct doctor_subject *s, const struct inisd_config *config,
		       const char *dir)
{
	static struct patient p; /* too large for a stack */

	p = (struct patient){.config = *config, .broker = -1, .control = -1, .front = -1};
	p.config.pool = 0;
	snprintf(p.config.state_dir, sizeof(p.config.state_dir), "%.*s/state", (int)sizeof(p.config.state_dir) - 8,
		 dir);
	doctor_try(r, s, "session", DOCTOR_STEP_UNIT, try_unit, &p, "made, frozen, thawed and destroyed");
}
