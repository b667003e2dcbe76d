/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_proto.h - the agent protocol: what the daemon and PID 1 of a unit say.
 *
 * DOC: How it works
 *
 * The daemon ("client" below) connects, both sides send HELLO on channel 0, then
 * the client sends RECONNECT (possibly with no entries) and may make requests.
 * Every request opens a channel: a number the client picks, never 0, never used
 * before on this connection. All that belongs to the request travels on it. A
 * channel ends with ERROR, END, EXITED, PROC_INFO or FILE_INFO as said below,
 * or with RELEASE from the client, which also frees what the agent keeps.
 *
 * Streams (OUT, ERR towards the client, STDIN towards the agent) carry a 64-bit
 * offset. A sender has at most the window of HELLO bytes unacknowledged per
 * stream; ACK and STDIN_ACK carry absolute offsets, so a repeated one is
 * harmless. The agent keeps what is not acknowledged: one stream nobody reads
 * never stalls another.
 *
 * Everything resumes. When the connection breaks, execs run on and keep their
 * unacknowledged output. After the next HELLO the client's RECONNECT names the
 * execs it still wants, by id, with the offsets it has and the channels they
 * get now; the agent answers RECONNECTED and goes on from there. An exec that
 * is not named, or all of them when nobody comes back within
 * INIS_RECONNECT_GRACE_MS, counts as a lost stream: it is killed, unless it was
 * started with INIS_EXEC_DETACHED, then it runs on with its output discarded.
 * Named processes and named terminals never depend on a connection.
 *
 * Every frame carries the epoch of HELLO. It changes at a fork or restore; a
 * frame of another epoch is dropped.
 *
 * The agent is hostile to the client and the other way round each checks all:
 * a malformed message from the client ends in ERROR on its channel, a malformed
 * frame ends the connection.
 *
 * Pure codecs. Decoded strings point into the message.
 */
#ifndef INIS_WIRE_AGENT_PROTO_H
#define INIS_WIRE_AGENT_PROTO_H

#include "base/id.h"
#include "base/pack.h"
#include "wire/frame.h"

#define INIS_AGENT_VERSION      1
#define INIS_AGENT_WINDOW       (256 * 1024) /* bytes unacknowledged per stream */
#define INIS_RECONNECT_GRACE_MS 30000
#define INIS_TERM_GRACE_MS      1000 /* exec: SIGTERM to kill */
#define INIS_KILL_GRACE_MS      5000 /* named process: SIGTERM to kill, when not told */

/* In the guest, for its programs: how often it has gone on after a pause, and when last; two lines. */
#define INIS_GENERATION_FILE "/run/inis/generation"

/* The agent listens here, in the abstract namespace of the unit's netns. */
#define INIS_AGENT_SOCKET "inis-agent"

enum inis_frame_type {
	/* connection, channel 0 */
	INIS_F_HELLO = 1, /* both: struct inis_hello */
	INIS_F_PING = 2, /* both; answered with PONG, same payload (<= 64 bytes) */
	INIS_F_PONG = 3,
	INIS_F_RECONNECT = 4, /* client: struct inis_reconnect[] */
	INIS_F_RECONNECTED = 5, /* agent: the same entries with state filled in */

	/* streams and ends, on a request's channel */
	INIS_F_OUT = 16, /* agent: u64 offset + bytes of stdout, log stdout, file or list data */
	INIS_F_ERR = 17, /* agent: u64 offset + bytes of stderr */
	INIS_F_ACK = 18, /* client: u64 out, u64 err: all before these was taken */
	INIS_F_STDIN = 19, /* client: u64 offset + bytes; INIS_FRAME_EOF closes after them */
	INIS_F_STDIN_ACK = 20, /* agent: u64 offset taken, u8 closed (1: the reader is gone, discard the rest) */
	INIS_F_ERROR = 21, /* agent: struct inis_error (code, field, message); ends the channel */
	INIS_F_END = 22, /* agent: u32 flags (INIS_END_*); ends the channel */
	INIS_F_CANCEL = 23, /* client, exec: u32 grace_ms; SIGTERM, grace, kill; EXITED follows */
	INIS_F_RELEASE = 24, /*
			      * client: done with the channel. Stops a follow, aborts a write, forgets an
			      * ended exec. An exec still running: runs on with its output discarded if
			      * INIS_EXEC_DETACHED, else it is cancelled; forgotten once it has ended.
			      */

	/* exec */
	INIS_F_EXEC = 32, /* client: struct inis_exec */
	INIS_F_STARTED = 33, /* agent: u32 guest pid, u64 wall ms */
	INIS_F_EXITED = 34, /* agent: struct inis_exited, after all output; kept until RELEASE */

	/* named processes */
	INIS_F_PROC_START = 48, /* client: struct inis_exec, id = name; -> PROC_INFO | ERROR (conflict, bad_request) */
	INIS_F_PROC_GET = 49, /* client: str name -> PROC_INFO | ERROR not_found */
	INIS_F_PROC_LIST = 50, /* client: empty -> PROC_INFO each, then END */
	INIS_F_PROC_KILL = 51, /* client: str name, u32 grace_ms -> PROC_INFO once exited (killed_now set if by this) */
	INIS_F_PROC_STDIN = 52, /* client: str name -> STDIN_ACK offset 0 | ERROR; then STDIN, STDIN_ACK; EOF -> END */
	INIS_F_PROC_LOGS = 53, /* client: struct inis_logs -> LOGS_INFO, OUT/ERR, END */
	INIS_F_PROC_INFO = 54, /* agent: struct inis_proc_info; ends the channel except under PROC_LIST */
	INIS_F_LOGS_INFO = 55, /* agent: u64 first out offset, u64 first err offset, u8 truncated */

	/* files; every path is absolute or relative to /workspace, resolved below /workspace */
	INIS_F_FILE_READ = 64, /* client: str path, u64 offset, u64 length -> FILE_INFO, OUT…, END */
	INIS_F_FILE_WRITE = 65, /* client: struct inis_file_write -> STDIN_ACK 0; STDIN…EOF -> FILE_INFO */
	INIS_F_FILE_LIST = 66, /* client: str path, u32 limit -> OUT… (entries: u8 type, str name), END */
	INIS_F_FILE_MKDIR = 67, /* client: str path -> FILE_INFO */
	INIS_F_FILE_REMOVE = 68, /* client: str path, u8 recursive -> END */
	INIS_F_FILE_RENAME = 69, /* client: str path, str dest -> FILE_INFO of dest */
	INIS_F_FILE_STAT = 70, /* client: str path -> FILE_INFO (of a link itself) */
	INIS_F_FILE_INFO = 71, /* agent: struct inis_file_info; ends the channel except after FILE_READ */
	/* Run with the guest's rights and a time limit; RELEASE ends them. wire/search_proto.h has the messages. */
	INIS_F_FILE_FIND = 72, /* client: struct inis_search -> OUT… (struct inis_record), END */
	INIS_F_FILE_GREP = 73, /* as FILE_FIND */

	/*
	 * terminals: an exec whose stdin, stdout and stderr are one terminal. STARTED, OUT, ACK, STDIN, STDIN_ACK and
	 * EXITED as for an exec, RECONNECT too; there is no ERR. CANCEL, RELEASE and a lost stream hang up: SIGHUP to
	 * all of it, grace, kill.
	 */
	INIS_F_PTY_START = 80, /* client: struct inis_pty */
	INIS_F_PTY_RESIZE = 81, /* client: u16 rows, u16 cols */
	INIS_F_PTY_SIGNAL = 82, /* client: u32 signal, to the foreground process group; SIGKILL kills all of it */

	/*
	 * named terminals: they belong to the session, not to a connection. A channel of PTY_ATTACH is its owner, with
	 * an id of its own by which it resumes: STARTED, PTY_INFO, OUT, ACK, STDIN, STDIN_ACK, EXITED, PTY_RESIZE and
	 * PTY_SIGNAL as above, and OUT is a tape (wire/tape.h). There is one owner at a time: the next takes over, and
	 * the one before ends with ERROR conflict. RELEASE and a lost stream leave the terminal running.
	 */
	INIS_F_PTY_ATTACH = 83, /* client: struct inis_attach; starts it when it does not run */
	INIS_F_PTY_INFO = 84, /* agent: struct inis_pty_info, once before OUT, and again when the channel resumes */
	INIS_F_PTY_LIST = 85, /* client: empty -> PTY_ENTRY each, then END */
	INIS_F_PTY_ENTRY = 86, /* agent: struct inis_pty_entry */
	INIS_F_PTY_KILL = 87, /* client: str name, u32 grace_ms; hangs up -> END once it has ended | ERROR not_found */

	INIS_F_IDENTITY = 96, /* reserved: identity after a fork */

	/* around a freeze of the unit, channel 0 */
	INIS_F_QUIESCE = 97, /*
			      * client: the unit is about to be frozen. The agent's clock stops: no limit runs on.
			      * It goes on with RESUMED, or when the connection is lost or another one begins.
			      */
	INIS_F_QUIET = 98, /* agent: done */
	INIS_F_RESUMED = 99, /* client: the unit was thawed; INIS_GENERATION_FILE is written anew */
};

#define INIS_END_TRUNCATED 0x1 /* a limit cut the list or the log */

#define INIS_FEATURE_EXEC  0x1ULL
#define INIS_FEATURE_PROCS 0x2ULL
#define INIS_FEATURE_FILES 0x4ULL
#define INIS_FEATURE_PTYS  0x8ULL
#define INIS_FEATURE_PAUSE 0x20ULL
#define INIS_FEATURE_USAGE 0x40ULL /* both: EXITED and PROC_INFO may end with what inis_usage_pack() writes */

struct inis_hello {
	uint32_t version; /* INIS_AGENT_VERSION; another one ends the connection */
	uint32_t window; /* bytes; the smaller of both sides' counts */
	uint64_t features;
};
void inis_hello_pack(struct inis_buf *b, const struct inis_hello *m);
int inis_hello_unpack(const void *data, size_t n, struct inis_hello *m);

enum inis_resume_state {
	INIS_RESUME_UNKNOWN = 0, /* the agent does not know such an exec */
	INIS_RESUME_GOES_ON = 1, /* its frames follow on the new channel, EXITED included */
	INIS_RESUME_GAP = 2, /* known, but the offsets asked for are gone */
};

struct inis_reconnect {
	char id[INIS_PROC_NAME_MAX + 1];
	uint32_t channel;
	uint64_t out_have; /* bytes the client already has */
	uint64_t err_have;
	uint8_t state; /* enum inis_resume_state, in the answer */
};
#define INIS_RECONNECT_MAX 1024
/* Both messages: u32 count + entries. unpack returns the count or -1. */
void inis_reconnect_pack(struct inis_buf *b, const struct inis_reconnect *m, uint32_t count);
int inis_reconnect_unpack(const void *data, size_t n, struct inis_reconnect *m, uint32_t max);

enum inis_stdin_mode {
	INIS_STDIN_NULL = 0, /* /dev/null */
	INIS_STDIN_PIPE = 1, /* a pipe, fed by STDIN frames (exec) or PROC_STDIN (process) */
};

#define INIS_EXEC_DETACHED   0x1 /* runs on when its connection is lost (buffered exec) */
#define INIS_EXEC_KEEP_ALIVE 0x2 /* process: only kept and reported */

#define INIS_ARGV_MAX 4096
#define INIS_ENV_MAX  1024

struct inis_exec {
	struct inis_str id; /* exec id or process name; proc_name_valid() */
	uint32_t flags; /* INIS_EXEC_* */
	uint32_t timeout_ms; /* 0 = none */
	uint8_t stdin_mode; /* enum inis_stdin_mode */
	uint64_t capture_max; /* exec: bytes kept per stream, the rest is read and dropped; 0 = all */
	struct inis_str cwd; /* "" = /workspace; relative to /workspace */
	uint32_t argc; /* >= 1 */
	uint32_t envc;
	struct inis_str *argv; /* owned by the decoded message */
	struct inis_str *env; /* "NAME=value", laid over the agent's base environment */
};
void inis_exec_pack(struct inis_buf *b, const struct inis_exec *m);
/* Strings point into data; release with inis_exec_free(). */
int inis_exec_unpack(const void *data, size_t n, struct inis_exec *m);
void inis_exec_free(struct inis_exec *m);

struct inis_pty {
	uint16_t rows;
	uint16_t cols;
	struct inis_exec exec; /* argc 0: the login shell; stdin_mode and capture_max do not count */
};
void inis_pty_pack(struct inis_buf *b, const struct inis_pty *m);
/* Strings point into data; release with inis_exec_free(&m->exec). */
int inis_pty_unpack(const void *data, size_t n, struct inis_pty *m);

struct inis_attach {
	struct inis_str name; /* of the terminal; proc_name_valid() */
	struct inis_pty pty; /* exec.id: of this attachment. The rest of exec counts when it is started */
};
/*
 * Size 0, 0: a terminal that runs keeps its own, another has the usual one. Strings point into data; release with
 * inis_exec_free(&m->pty.exec).
 */
void inis_attach_pack(struct inis_buf *b, const struct inis_attach *m);
int inis_attach_unpack(const void *data, size_t n, struct inis_attach *m);

#define INIS_PTY_STARTED   0x1 /* by this request */
#define INIS_PTY_TRUNCATED 0x2 /* the beginning of the tape is no longer kept */

#define INIS_PTY_MODES_MAX 256

struct inis_pty_info {
	uint64_t first; /* offset of the first byte of the tape that follows */
	uint64_t live; /* from here on it is not a replay */
	uint16_t rows; /* size at first */
	uint16_t cols;
	uint8_t flags; /* INIS_PTY_* */
	struct inis_str modes; /* what puts a fresh terminal into the modes that were set before first; any bytes */
};
void inis_pty_info_pack(struct inis_buf *b, const struct inis_pty_info *m);
/* modes points into data. Fails when live is before first or a size is 0. */
int inis_pty_info_unpack(const void *data, size_t n, struct inis_pty_info *m);

struct inis_pty_entry {
	struct inis_str name;
	uint16_t rows;
	uint16_t cols;
	uint8_t attached; /* 1: it has an owner */
	uint32_t pid; /* guest pid */
	uint64_t started_wall_ms;
	uint32_t argc;
	struct inis_str *argv; /* owned by the decoded message */
};
void inis_pty_entry_pack(struct inis_buf *b, const struct inis_pty_entry *m);
/* All but the strings of argv, which must follow. */
void inis_pty_entry_head_pack(struct inis_buf *b, const struct inis_pty_entry *m);
/* Fails also when a value is none: a size or pid of 0, a name that is not valid. */
int inis_pty_entry_unpack(const void *data, size_t n, struct inis_pty_entry *m);
void inis_pty_entry_free(struct inis_pty_entry *m);

#define INIS_EXIT_TIMED_OUT  0x01
#define INIS_EXIT_OOM        0x02 /* the memory limit killed something in it */
#define INIS_EXIT_KILLED     0x04 /* ended by CANCEL or PROC_KILL */
#define INIS_EXIT_OUT_CUT    0x08 /* capture_max dropped bytes of stdout */
#define INIS_EXIT_ERR_CUT    0x10
#define INIS_EXIT_KEEP_ALIVE 0x20 /* process info only */
#define INIS_EXIT_STDIN_OPEN 0x40 /* process info only */
#define INIS_EXIT_KILLED_NOW 0x80 /* answer to PROC_KILL: by this request */

struct inis_exited {
	int32_t exit_code; /* 124 timed out, 128+n signal, 126/127 could not be run */
	uint32_t signal; /* 0 = none */
	uint32_t flags; /* INIS_EXIT_* */
	uint64_t duration_ms;
	uint64_t cpu_us; /* user + system of all its processes, 0 = unknown */
	uint64_t out_total; /* bytes written, also dropped ones */
	uint64_t err_total;
	/*
	 * Largest resident set, in bytes, that one process of it ever had: of those whose end was waited for, by the
	 * command's own processes or, when they were orphaned in its terminal session, by the agent. 0 = unknown.
	 */
	uint64_t peak_bytes;
};
/* All but peak_bytes. */
void inis_exited_pack(struct inis_buf *b, const struct inis_exited *m);
/* peak_bytes, at the end of EXITED and of PROC_INFO; nothing when it is 0. */
void inis_usage_pack(struct inis_buf *b, const struct inis_exited *m);
int inis_exited_unpack(const void *data, size_t n, struct inis_exited *m);

struct inis_proc_info {
	struct inis_str name;
	uint8_t running; /* 1 running, 0 exited */
	uint32_t pid; /* guest pid */
	struct inis_exited exit; /* flags always; the rest when exited */
	uint64_t started_wall_ms;
	uint64_t ended_wall_ms; /* 0 while running */
	uint32_t argc;
	struct inis_str *argv; /* owned by the decoded message */
};
void inis_proc_info_pack(struct inis_buf *b, const struct inis_proc_info *m);
int inis_proc_info_unpack(const void *data, size_t n, struct inis_proc_info *m);
void inis_proc_info_free(struct inis_proc_info *m);

#define INIS_FROM_START 0ULL

struct inis_logs {
	struct inis_str name;
	uint8_t follow; /* 1: go on until the process has exited */
	uint64_t out_from; /* first byte wanted; older than kept: the first kept one */
	uint64_t err_from;
	uint64_t tail_max; /* per stream: at most the last so many bytes of what is there now; 0 = all kept */
};
void inis_logs_pack(struct inis_buf *b, const struct inis_logs *m);
int inis_logs_unpack(const void *data, size_t n, struct inis_logs *m);

struct inis_file_write {
	struct inis_str path;
	uint32_t mode; /* permission bits, 0 = 0644 for a new file, the old mode for a replaced one */
	uint64_t size; /* bytes announced, UINT64_MAX = unknown */
};
void inis_file_write_pack(struct inis_buf *b, const struct inis_file_write *m);
int inis_file_write_unpack(const void *data, size_t n, struct inis_file_write *m);

enum inis_file_type {
	INIS_FILE_REGULAR = 1,
	INIS_FILE_DIRECTORY = 2,
	INIS_FILE_SYMLINK = 3,
	INIS_FILE_OTHER = 4,
};

struct inis_file_info {
	uint8_t type; /* enum inis_file_type */
	uint32_t mode; /* permission bits */
	uint64_t size; /* bytes */
	int64_t mtime_ms; /* wall clock */
};
void inis_file_info_pack(struct inis_buf *b, const struct inis_file_info *m);
int inis_file_info_unpack(const void *data, size_t n, struct inis_file_info *m);

void inis_wire_error_pack(struct inis_buf *b, const struct inis_error *m);
/* Unknown codes become internal; texts are cut to fit, bytes outside printable UTF-8 stay as they are. */
int inis_wire_error_unpack(const void *data, size_t n, struct inis_error *m);

#endif
