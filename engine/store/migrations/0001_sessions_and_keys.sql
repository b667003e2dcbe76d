-- SPDX-License-Identifier: Apache-2.0
-- Sessions, live and ended, and the hashes of API keys.

CREATE TABLE session (
	id TEXT PRIMARY KEY,
	state TEXT NOT NULL,
	unit TEXT NOT NULL,
	name TEXT,
	external_id TEXT,
	created_at INTEGER NOT NULL,
	ended_at INTEGER NOT NULL, -- 0 = not ended
	end_reason TEXT,
	doc TEXT NOT NULL,
	secrets BLOB
) STRICT;

CREATE INDEX session_live ON session (id) WHERE ended_at = 0;
CREATE INDEX session_history ON session (created_at DESC, id DESC) WHERE ended_at > 0;
CREATE INDEX session_history_external ON session (external_id, created_at DESC, id DESC) WHERE ended_at > 0;
CREATE INDEX session_expiry ON session (ended_at) WHERE ended_at > 0;

CREATE TABLE api_key (
	sha256 BLOB PRIMARY KEY,
	origin TEXT NOT NULL
) STRICT;

-- One sealed value that only the right master key opens.
CREATE TABLE master_key_check (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	sealed BLOB NOT NULL
) STRICT;
