/* SPDX-License-Identifier: Apache-2.0
 *
 * internal.h - the container driver's structs and what its files offer each other.
 *
 * DOC: Life of a unit
 *
 *	spawn.c       STARTING    cloned, layers made, agent on its way
 *	pool.c        BLANK       agent waits; in the pool
 *	activate.c    ACTIVATING  limits set, mounts sent, agent moves in
 *	              LIVE        agent listens; record names the session
 *	destroy.c     DYING       killed; logs put aside; cgroups, loop device, files being removed
 *
 * DYING can follow every other state. All of it runs on the loop's thread and nothing there waits but on events;
 * what blocks (making layers, removing files) is a job of a worker, one job a unit at a time.
 */
#ifndef INIS_DRIVER_CONTAINER_INTERNAL_H
#define INIS_DRIVER_CONTAINER_INTERNAL_H

#include "driver/container/container.h"
#include "driver/container/layer.h"
#include "driver/container/ranges.h"
#include "driver/container/record.h"
#include "os/cgroup.h"
#include "os/worker.h"
#include "template/manifest.h"
#include "wire/unit_proto.h"

/* In the broker's own mount namespace. */
#define RUN_AGENT RUN_DIR "/inis-agent" /* read-only bind mount of the program */
#define RUN_DEV   RUN_DIR "/dev" /* what every unit sees as /dev */

#define START_DEADLINE_MS   10000 /* clone to READY, ACTIVATE to ACTIVE: a machine short of memory is slow */
#define DESTROY_DEADLINE_MS 20000
#define DESTROY_RETRY_MS    2
#define FREEZE_DEADLINE_MS  10000

/* SPARE: all that a unit has without a process. */
enum cunit_state { CU_SPARE, CU_STARTING, CU_BLANK, CU_ACTIVATING, CU_LIVE, CU_DYING };

struct container;

/* What a unit starts from: the lower layer of its root. */
struct base {
	struct base *next;
	char name[RECORD_BASE]; /* directory below templates/: "host/…", or of a template */
	bool host; /* has no /usr: the machine's own is put there */
	bool seen; /* by the look at templates/ that is going on */
	bool gone; /* offered no more; units may still be on it */
	int dir; /* holds root/ */
	struct inis_template_manifest manifest; /* unless host */
};

/* A look at what there is in templates/, on a worker. */
struct template_scan {
	struct inis_job job;
	bool running;
	bool again; /* something changed meanwhile */
	struct base *found; /* not known before */
};

/* A create that waits for a unit or for its agent. */
struct want {
	struct inis_broker_create spec;
	inis_driver_created created;
	void *ctx;
	bool waited; /* there was no blank unit for it when it came */
	struct want *next;
};

struct cunit {
	struct inis_unit u; /* first: the broker's view */
	struct container *c;
	struct cunit *next;
	enum cunit_state state;
	struct record record;
	enum record_stage stage;
	int dir; /* units/<id> */
	int cgroup; /* v2 group */
	int sock; /* to the agent until it is ACTIVE */
	int agent; /* a socket of the unit's network, for the first connection */
	struct inis_cgroup_limits limits; /* in force */
	struct inis_watch sock_watch;
	struct inis_watch exit_watch; /* pidfd */
	struct inis_timer deadline; /* of STARTING and ACTIVATING; LIVE: when to settle */
	bool owns_range;
	struct layer layer;
	uint64_t soft_bytes; /* what a soft layer held when it was last counted; the sweeper's while it counts */
	uint64_t soft_shown;
	struct base *base; /* of root; NULL: of an earlier start */
	bool holds_base; /* keeps its template from being removed */
	int root; /* / as an overlay, not yet the unit's */
	int usr; /* /usr likewise, when the base has none */
	struct want *want; /* ACTIVATING: for whom */
	struct inis_job job; /* its layers being made or settled, or its files being removed */
	bool job_running;
	int userns; /* until the unit is in use */
	bool agent_ready; /* STARTING ends when this and layers_made are true */
	bool layers_made;
	struct inis_error layers_error;

	inis_driver_done change_done; /* freeze or thaw in progress */
	void *change_ctx;
	bool change_to;
	inis_ms change_deadline;
	int cgroup_events;
	struct inis_watch change_watch;
	struct inis_timer change_timer;

	inis_driver_done destroy_done; /* NULL: nobody waits */
	void *destroy_ctx;
	inis_ms destroy_deadline;
	struct inis_timer destroy_timer;
	bool files_gone;
	unsigned destroy_tries;
};

/* Of the disk that the images lie on. */
struct room {
	struct inis_timer timer;
	bool is_short; /* it is shared out */
	uint64_t left; /* then: for all units together */
	uint64_t reserve; /* bytes of the file that is there to be given up */
};

struct zygote {
	int sock; /* -1: none runs */
	int pidfd;
};

struct container {
	struct inis_driver driver; /* first */
	struct inis_container_config config;
	struct inis_cgroup_root cgroups;
	struct ranges ranges;
	struct disks disks;
	char boot_id[INIS_BOOT_ID_SIZE];
	struct inis_worker builder; /* layers */
	struct inis_worker sweeper; /* what waits for a disk and nobody waits for: removing files, settling layers */
	struct inis_worker keeper; /* putting aside what is kept of sessions */
	int units_dir;
	int logs_dir; /* -1: nothing is kept */
	int templates_dir;
	struct base *bases;
	struct template_scan scan;
	struct inis_watch templates_watch; /* inotify */
	struct room room;
	struct zygote zygote;
	struct cunit *units;
	struct want *wants; /* oldest first */
	struct inis_cgroup_limits
		usual; /* of the last create: blank units get them, the next one is likely to want them */
	struct inis_error last_start; /* why the last unit could not be started; a create that waits gets it */
};

static inline struct container *container_of_driver(struct inis_driver *d)
{
	return (struct container *)d;
}

#define field_owner(ptr_, type_, field_) ((type_ *)((char *)(ptr_)-offsetof(type_, field_)))

/* unit.c: the struct. It starts with all descriptors at -1 and linked into c->units. */
struct cunit *cunit_new(struct container *c, const struct unit_id *id);
/* Unlinks and frees; nothing of the unit exists any more. */
void cunit_free(struct cunit *cu);
/* Watches PID 1; it may be gone already. */
int cunit_watch_exit(struct cunit *cu, struct inis_error *err);
void cunit_loop_label(const struct cunit *cu, char label[static LAYER_LABEL_SIZE]);
/* Makes sure that the mount of its hard layer is open: that of an adopted unit is not at first. */
int cunit_open_layer(struct cunit *cu, struct inis_error *err);

/*
 * What the agent says on the unit's socket: 1 `verb`, with a descriptor into *fd when that is asked for (caller owns), 0
 * nothing yet, -1 anything else, or its end. What the agent said of a failure is in *err.
 */
int cunit_hear(struct cunit *cu, enum inis_unit_verb verb, int *fd, struct inis_error *err);

/* The unit's one job; done() sets job_running to false. */
void cunit_submit(struct cunit *cu, struct inis_worker *worker, void (*work)(struct inis_job *job),
		  void (*done)(struct inis_job *job));
/*
 * A job of the sweeper that nobody waits for; a destruction that came meanwhile goes on after it. False when the unit
 * has another job.
 */
bool cunit_sweep(struct cunit *cu, void (*work)(struct inis_job *job));

/* A unit that never got a session goes, and nobody has to ask. */
void cunit_drop_starting(struct cunit *cu, const struct inis_error *why);

/* rootfs.c: what a unit is given to live in. On any thread; touches only layer, root and usr. */
int cunit_make_layer(struct cunit *cu, uint32_t disk_mb, struct inis_error *err);
/* With the layer that is there, or a new one. */
int cunit_make_rootfs(struct cunit *cu, uint32_t disk_mb, int userns, struct inis_error *err);
void cunit_drop_rootfs(struct cunit *cu);
/* Names of this one machine, into the root. */
int cunit_write_names(int root, const char *hostname, struct inis_error *err);

/* zygote.c */
int zygote_start(struct container *c, struct inis_error *err);
void zygote_stop(struct container *c);
/*
 * A new agent, our child, in these namespaces and this v2 cgroup; sock is its end of a socket, through which one byte
 * lets it go on. *pidfd is the caller's to close.
 */
pid_t zygote_clone(struct container *c, uint64_t flags, int sock, int cgroup, int *pidfd, struct inis_error *err);

/* spawn.c */
int cunit_spawn(struct container *c, struct inis_error *err);
/* Begins to make a spare, which the next cunit_spawn() starts from. */
int cunit_spare(struct container *c, struct inis_error *err);
/* When agent and layers are both ready, the unit is BLANK. */
void cunit_started(struct cunit *cu);

/* pool.c: wants meet blank units. */
unsigned pool_count(const struct container *c, enum cunit_state state);
int pool_refill(struct inis_driver *d, struct inis_error *err);
void pool_create(struct inis_driver *d, const struct inis_broker_create *spec, inis_driver_created created, void *ctx);
/* After a unit became BLANK, or one that was STARTING is no more. */
void pool_settle(struct container *c);

/* activate.c: takes the want over. */
void cunit_activate(struct cunit *cu, struct want *want);
/* A message or the end of the agent's unit socket while ACTIVATING. */
void cunit_activate_event(struct cunit *cu);
/* Ends an activation that failed: tells the want and destroys the unit. */
void cunit_activate_failed(struct cunit *cu, const struct inis_error *err);
int cunit_connect(struct inis_driver *d, struct inis_unit *u, struct inis_error *err);
/* Some time after it went live. */
void cunit_settle(struct cunit *cu);

/* room.c: no more is written in units than the disk has room for. */
void room_watch(struct container *c);
/* Before anything is made. */
void room_give_reserve(struct container *c);
void room_unwatch(struct container *c);
/* Also when there is a new unit. */
void room_look(struct container *c);
/* Whether there is room for one more. */
int room_check(const struct container *c, struct inis_error *err);

/* stats.c */
int cunit_stats(struct inis_driver *d, struct inis_unit *u, struct inis_broker_stats *out, struct inis_error *err);

/* freeze.c */
void cunit_freeze(struct inis_driver *d, struct inis_unit *u, inis_driver_done done, void *ctx);
void cunit_thaw(struct inis_driver *d, struct inis_unit *u, inis_driver_done done, void *ctx);
/* Ends a change in progress with an error, if there is one. */
void cunit_change_abort(struct cunit *cu, const struct inis_error *err);

/* destroy.c */
void cunit_destroy(struct inis_driver *d, struct inis_unit *u, inis_driver_done done, void *ctx);
bool cunit_await_end(struct inis_driver *d, const struct unit_id *id, inis_driver_done done, void *ctx);
/* Goes as far as it can; cu may be gone afterwards. */
void cunit_destroy_step(struct cunit *cu);

/*
 * keep.c: what the session's processes leave behind goes to logs/<session id>, once. True while that is going on;
 * cunit_destroy_step() follows. All processes are dead.
 */
bool cunit_keep(struct cunit *cu);

/* adopt.c: units that an earlier driver left. */
int container_adopt(struct container *c, struct inis_error *err);

/* prepare.c: what is made once at start, in the broker's mount namespace and below templates/. */
int container_prepare(struct container *c, struct inis_error *err);

/* bases.c: which there are, who uses which. */
/* Adds one; the directory is taken over. */
struct base *base_new(const char *name, int dir, struct inis_error *err);
/* Makes the host's, finds the templates, and gives units that were adopted their base. */
int bases_open(struct container *c, struct inis_error *err);
void bases_close(struct container *c);
/* Of this spelling: "", NAME or NAME@VERSION. NULL: there is none. */
struct base *base_find(struct container *c, const char *template_name);
/* From here on the base stays until base_release(), when nothing of the unit is left, however often brokers end. */
int base_hold(struct cunit *cu, struct base *b, struct inis_error *err);
void base_release(struct cunit *cu);
bool base_describe(struct inis_driver *d, unsigned index, struct inis_broker_template *out);

/* templates.c: notices templates that come and go. */
/* Once, waiting for it. */
void templates_look(struct container *c);
int templates_watch(struct container *c, struct inis_error *err);
void templates_unwatch(struct container *c);

/* host_base.c: the template "host" without its /usr; dir is fresh and gets root/ and mask/. */
int host_base_build(int dir, struct inis_error *err);
/* host_etc.c: fills a fresh /etc. */
int host_etc_build(int etc, struct inis_error *err);

#endif
