/* SPDX-License-Identifier: Apache-2.0
 *
 * front.h - how the supervisor starts the front.
 *
 * The front is the same program in its second role: `inisd front`, started by
 * the supervisor with a fixed set of descriptors, as an unprivileged uid, with
 * its working directory at the store directory (owned by that uid, 0700).
 * It never forks, mounts or enters a namespace.
 */
#ifndef INIS_DAEMON_FRONT_H
#define INIS_DAEMON_FRONT_H

#define INIS_FRONT_FD_LISTEN 3 /* listening TCP socket */
#define INIS_FRONT_FD_BROKER 4 /* SOCK_SEQPACKET to the broker */
#define INIS_FRONT_FD_CONFIG 5 /* sealed memfd: one JSON object, below */

/*
 * The JSON object on INIS_FRONT_FD_CONFIG:
 *   "base_url": string        as written to engine.json
 *   "version": string
 *   "keys": [string]          bearer keys in clear; the front hashes and forgets them
 *   "store_dir": string       absolute; also the working directory
 *   "embedded": bool
 *   "exit_when_idle_ms": int  0 = never: leave when no session is live and no request came for so long
 *   "sessions_max": int       0 = no cap
 *   "limits": {"sessions_per_key_max": int, "session_requests_max": int, "connections_max": int, "rate_limit": int,
 *              "rate_burst": int, "metrics_local": bool}   as in the configuration file; 0 = none
 *   "disk_mb": int            disk of a session
 *   "pids_max": int           processes of a session
 *   "log_level": "debug" | "info" | "warn" | "error"
 * Exit status: 0 after SIGTERM or when idle (INIS_FRONT_EXIT_IDLE), else it is started again.
 */
#define INIS_FRONT_EXIT_IDLE 10

/* The front's main(); returns the exit status. Logs go to stderr, one JSON object a line. */
int inis_front_main(void);

#endif
