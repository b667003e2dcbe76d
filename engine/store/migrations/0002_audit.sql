-- SPDX-License-Identifier: Apache-2.0
-- What was run in sessions: one row a command. Kept for as long as the history of sessions.

CREATE TABLE audit (
	seq INTEGER PRIMARY KEY, -- in the order in which they began
	session TEXT NOT NULL,
	at INTEGER NOT NULL,
	ended_at INTEGER NOT NULL, -- 0 = not known
	doc TEXT NOT NULL
) STRICT;

CREATE INDEX audit_session ON audit (session, seq DESC);
CREATE INDEX audit_expiry ON audit (at);
