/* SPDX-License-Identifier: Apache-2.0
 *
 * pause.h - what the agent does around a freeze of its unit.
 *
 * A frozen agent does not notice. So the client says when a freeze is near, and the clock of all limits stops until
 * the client says that it is over, or is gone.
 */
#ifndef INIS_AGENT_PAUSE_H
#define INIS_AGENT_PAUSE_H

#include "base/error.h"

/* Makes INIS_GENERATION_FILE. */
int pause_open(struct inis_error *err);

void pause_begin(void); /* stops the clock */
void pause_cancel(void); /* lets it go on; harmless when it runs */
void pause_end(void); /* likewise, and tells the guest's programs that they were resumed */

#endif
