/* SPDX-License-Identifier: Apache-2.0
 *
 * user.h - the guest user: who commands run as and whose rights file operations have.
 */
#ifndef INIS_AGENT_USER_H
#define INIS_AGENT_USER_H

#include <sys/types.h>

#define USER_NAME       "sandbox"
#define USER_ID         999 /* when the guest's /etc/passwd does not say */
#define USER_GROUPS_MAX 64
#define USER_PATH_MAX   256

struct guest_user {
	uid_t uid;
	gid_t gid;
	unsigned n_groups;
	gid_t groups[USER_GROUPS_MAX];
	char home[USER_PATH_MAX];
	char shell[USER_PATH_MAX];
};

/* As the guest's /etc/passwd and /etc/group have it now. Never fails; never NULL. */
const struct guest_user *guest_user(void);

/* Pure: fill in what the text of the file says about USER_NAME. */
void user_parse_passwd(const char *text, struct guest_user *u);
void user_parse_group(const char *text, struct guest_user *u);

/*
 * Between these two, file access has exactly the guest user's rights: its ids, its groups and none of root's
 * capabilities over files. What is made belongs to it.
 */
void guest_rights_enter(void);
void guest_rights_leave(void);

#endif
