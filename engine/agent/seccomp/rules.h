/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.h - which system calls a guest may make.
 *
 * An allow-list: what ordinary programs, compilers, interpreters, package managers, debuggers and sudo use. What is
 * in none of the lists answers ENOSYS. Not here on purpose: everything that makes namespaces or mounts, talks to the
 * kernel's big subsystems (bpf, perf, io_uring, userfaultfd, keys, modules), or makes a guest impossible to
 * checkpoint.
 */
#ifndef INIS_AGENT_SECCOMP_RULES_H
#define INIS_AGENT_SECCOMP_RULES_H

#include <stdint.h>

/* All CLONE_NEW* bits of clone(). CLONE_NEWTIME has no bit there that is not part of the exit signal. */
#define NEW_NAMESPACES 0x7e020000u
#define TIOCSTI_       0x5412u

/* Linux, its 32-bit look, and each with the query value: nothing that changes the address space. */
static const uint32_t PERSONALITIES[] = {0x0, 0x8, 0x20000, 0x20008, 0xffffffff};

static const char *const ALLOWED[] = {
	/* files: open, read, write, move about */
	"access", "chdir", "chmod", "chown", "close", "close_range", "copy_file_range", "creat", "dup", "dup2", "dup3",
	"faccessat", "faccessat2", "fadvise64", "fallocate", "fchdir", "fchmod", "fchmodat", "fchmodat2", "fchown",
	"fchownat", "fcntl", "fdatasync", "fgetxattr", "flistxattr", "flock", "fremovexattr", "fsetxattr", "fstat",
	"fstatfs", "fsync", "ftruncate", "futimesat", "getcwd", "getdents", "getdents64", "getxattr", "getxattrat",
	"lchown", "lgetxattr", "link", "linkat", "listxattr", "listxattrat", "llistxattr", "lremovexattr", "lseek",
	"lsetxattr", "lstat", "mkdir", "mkdirat", "mknod", "mknodat", "newfstatat", "open", "openat", "openat2",
	"pread64", "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readahead", "readlink",
	"readlinkat", "readv", "removexattr", "removexattrat", "rename", "renameat", "renameat2", "rmdir", "sendfile",
	"setxattr", "setxattrat", "splice", "stat", "statfs", "statx", "symlink", "symlinkat", "sync",
	"sync_file_range", "syncfs", "tee", "truncate", "umask", "unlink", "unlinkat", "utime", "utimensat", "utimes",
	"vmsplice", "write", "writev",
	/* waiting for and watching descriptors */
	"epoll_create", "epoll_create1", "epoll_ctl", "epoll_ctl_old", "epoll_pwait", "epoll_pwait2", "epoll_wait",
	"epoll_wait_old", "eventfd", "eventfd2", "inotify_add_watch", "inotify_init", "inotify_init1",
	"inotify_rm_watch", "pipe", "pipe2", "poll", "ppoll", "pselect6", "select", "signalfd", "signalfd4",
	"timerfd_create", "timerfd_gettime", "timerfd_settime",
	/* asynchronous I/O of old, which databases use */
	"io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_setup", "io_submit",
	/* memory */
	"brk", "cachestat", "get_mempolicy", "madvise", "map_shadow_stack", "mbind", "membarrier", "memfd_create",
	"migrate_pages", "mincore", "mlock", "mlock2", "mlockall", "mmap", "move_pages", "mprotect", "mremap", "mseal",
	"msync", "munlock", "munlockall", "munmap", "pkey_alloc", "pkey_free", "pkey_mprotect", "process_madvise",
	"process_mrelease", "remap_file_pages", "set_mempolicy", "set_mempolicy_home_node",
	/* processes, threads and their waiting */
	"arch_prctl", "capget", "capset", "execve", "execveat", "exit", "exit_group", "fork", "futex", "futex_requeue",
	"futex_wait", "futex_waitv", "futex_wake", "get_robust_list", "get_thread_area", "getcpu", "getegid", "geteuid",
	"getgid", "getgroups", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getresgid", "getresuid",
	"getrlimit", "getrusage", "getsid", "gettid", "getuid", "ioprio_get", "ioprio_set", "kill", "modify_ldt",
	"pidfd_getfd", "pidfd_open", "pidfd_send_signal", "prctl", "prlimit64", "process_vm_readv", "process_vm_writev",
	"ptrace", "rseq", "sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_getattr",
	"sched_getparam", "sched_getscheduler", "sched_rr_get_interval", "sched_setaffinity", "sched_setattr",
	"sched_setparam", "sched_setscheduler", "sched_yield", "seccomp", "set_robust_list", "set_thread_area",
	"set_tid_address", "setfsgid", "setfsuid", "setgid", "setgroups", "setpgid", "setpriority", "setregid",
	"setresgid", "setresuid", "setreuid", "setrlimit", "setsid", "setuid", "tgkill", "tkill", "vfork", "wait4",
	"waitid", "chroot",
	/* Landlock: only ever takes rights away */
	"landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self",
	/* signals and timers */
	"alarm", "clock_getres", "clock_gettime", "clock_nanosleep", "getitimer", "gettimeofday", "nanosleep", "pause",
	"restart_syscall", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn",
	"rt_sigsuspend", "rt_sigtimedwait", "rt_tgsigqueueinfo", "setitimer", "sigaltstack", "time", "timer_create",
	"timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime", "times",
	/* reading the clock's state; setting it needs a capability nobody here has */
	"adjtimex", "clock_adjtime",
	/* sockets; which families, see gen.c */
	"accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "listen", "recvfrom",
	"recvmmsg", "recvmsg", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown", "socketpair",
	/* System V and POSIX queues, of the unit's own ipc namespace */
	"mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl", "msgget",
	"msgrcv", "msgsnd", "semctl", "semget", "semop", "semtimedop", "shmat", "shmctl", "shmdt", "shmget",
	/* the machine */
	"getrandom", "sysinfo", "uname", "ustat", NULL};

/* The agent makes its leaf cgroups and starts processes in them. */
static const char *const AGENT_ONLY[] = {"clone3", "fsopen", "fsconfig", "fsmount", NULL};

/* In guests the mount calls are refused; clone3 is left out, so that libraries fall back to clone. */
static const char *const AGENT_ONLY_REFUSED[] = {"fsopen", "fsconfig", "fsmount", NULL};

/* Known calls that programs ask for and take no for an answer: EPERM says more than ENOSYS. */
static const char *const REFUSED[] = {
	/* namespaces and mounts */
	"mount", "umount2", "pivot_root", "unshare", "setns", "fspick", "move_mount", "open_tree", "open_tree_attr",
	"mount_setattr", "quotactl", "quotactl_fd", "swapon", "swapoff",
	/* kernel subsystems */
	"bpf", "perf_event_open", "userfaultfd", "add_key", "request_key", "keyctl", "fanotify_init", "fanotify_mark",
	"name_to_handle_at", "open_by_handle_at", "kcmp", "lookup_dcookie", "vhangup",
	/* the machine */
	"acct", "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
	"create_module", "iopl", "ioperm", "settimeofday", "clock_settime", "sethostname", "setdomainname", "syslog",
	"_sysctl", "nfsservctl", NULL};

#endif
