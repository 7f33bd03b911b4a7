-- Times are Unix milliseconds. Rows carry a person, of whom there is one.

CREATE TABLE session (
	id TEXT PRIMARY KEY,
	person TEXT NOT NULL DEFAULT '',
	title TEXT NOT NULL DEFAULT '',
	named INTEGER NOT NULL DEFAULT 0, -- whether a person gave the title
	config TEXT NOT NULL,
	pinned INTEGER NOT NULL DEFAULT 0,
	archived INTEGER NOT NULL DEFAULT 0,
	revision INTEGER NOT NULL DEFAULT 1, -- of the tree and of what stands here
	forked TEXT NOT NULL DEFAULT '', -- the message it was forked from
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_updated ON session (updated, id);

CREATE TABLE message (
	n INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
	parent INTEGER REFERENCES message (n) ON DELETE CASCADE, -- NULL for the root alone
	ordinal INTEGER NOT NULL, -- among all children the parent ever had
	selected INTEGER, -- the child that the active path goes on with
	role TEXT NOT NULL CHECK (role IN ('root', 'user', 'assistant')),
	status TEXT NOT NULL CHECK (status IN ('queued', 'streaming', 'complete', 'cancelled', 'error', 'interrupted')),
	edited INTEGER NOT NULL DEFAULT 0,
	turn TEXT NOT NULL DEFAULT '',
	provider TEXT NOT NULL DEFAULT '',
	model TEXT NOT NULL DEFAULT '',
	finish TEXT NOT NULL DEFAULT '',
	error TEXT NOT NULL DEFAULT '',
	usage TEXT NOT NULL DEFAULT '',
	cost INTEGER NOT NULL DEFAULT 0, -- micros
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL,
	deleted INTEGER NOT NULL DEFAULT 0,
	UNIQUE (parent, ordinal)
) STRICT;
CREATE INDEX message_session ON message (session);

CREATE TABLE part (
	message INTEGER NOT NULL REFERENCES message (n) ON DELETE CASCADE,
	idx INTEGER NOT NULL,
	data TEXT NOT NULL,
	PRIMARY KEY (message, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE turn (
	n INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
	question TEXT NOT NULL, -- the message that is answered
	answer TEXT NOT NULL, -- the message that is written
	engine TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'awaiting_approval', 'done', 'error', 'cancelled', 'interrupted')),
	owner TEXT NOT NULL,
	steer INTEGER NOT NULL DEFAULT 0, -- 1: may reach the model of a turn of the same principal, 2: that of a person too
	config TEXT NOT NULL,
	principal TEXT NOT NULL DEFAULT '',
	cancel TEXT, -- why it is to end, said by another process
	finish TEXT NOT NULL DEFAULT '',
	error TEXT NOT NULL DEFAULT '',
	steps INTEGER NOT NULL DEFAULT 0,
	created INTEGER NOT NULL,
	started INTEGER NOT NULL DEFAULT 0,
	ended INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX turn_session ON turn (session, state);
CREATE UNIQUE INDEX turn_active ON turn (session) WHERE state IN ('running', 'awaiting_approval');
CREATE INDEX turn_unended ON turn (owner) WHERE state IN ('queued', 'running', 'awaiting_approval');

CREATE TABLE call (
	message INTEGER NOT NULL REFERENCES message (n) ON DELETE CASCADE,
	id TEXT NOT NULL,
	turn TEXT NOT NULL,
	step INTEGER NOT NULL,
	name TEXT NOT NULL,
	state TEXT NOT NULL,
	took INTEGER NOT NULL DEFAULT 0,
	updated INTEGER NOT NULL,
	PRIMARY KEY (message, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE summary (
	upto INTEGER PRIMARY KEY REFERENCES message (n) ON DELETE CASCADE, -- the last message it stands for
	turn TEXT NOT NULL,
	text TEXT NOT NULL,
	created INTEGER NOT NULL
) STRICT;

CREATE TABLE usage (
	n INTEGER PRIMARY KEY,
	person TEXT NOT NULL DEFAULT '',
	at INTEGER NOT NULL,
	session TEXT NOT NULL, -- which may be gone
	turn TEXT NOT NULL,
	agent TEXT NOT NULL DEFAULT '',
	provider TEXT NOT NULL,
	model TEXT NOT NULL,
	label TEXT NOT NULL, -- of the key
	input INTEGER NOT NULL,
	cached INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	output INTEGER NOT NULL,
	reasoning INTEGER NOT NULL,
	cost INTEGER NOT NULL -- micros
) STRICT;
CREATE INDEX usage_at ON usage (at);

CREATE TABLE attachment (
	session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
	sha256 TEXT NOT NULL,
	name TEXT NOT NULL,
	mime TEXT NOT NULL,
	size INTEGER NOT NULL,
	created INTEGER NOT NULL,
	PRIMARY KEY (session, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachment_blob ON attachment (sha256);

-- What is searched: the text of messages that are complete.
CREATE TABLE message_text (
	n INTEGER PRIMARY KEY REFERENCES message (n) ON DELETE CASCADE,
	text TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE message_fts USING fts5 (text, content = 'message_text', content_rowid = 'n', tokenize = 'trigram', detail = 'full');
CREATE TRIGGER message_text_added AFTER INSERT ON message_text BEGIN
	INSERT INTO message_fts (rowid, text) VALUES (new.n, new.text);
END;
CREATE TRIGGER message_text_removed AFTER DELETE ON message_text BEGIN
	INSERT INTO message_fts (message_fts, rowid, text) VALUES ('delete', old.n, old.text);
END;
CREATE TRIGGER message_text_changed AFTER UPDATE ON message_text BEGIN
	INSERT INTO message_fts (message_fts, rowid, text) VALUES ('delete', old.n, old.text);
	INSERT INTO message_fts (rowid, text) VALUES (new.n, new.text);
END;
