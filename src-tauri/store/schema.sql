-- The whole schema as it is now. A test proves that the migrations make the same.

-- Times are Unix milliseconds, ids are UUIDs as text, digests and hashes are 32 bytes, JSON is UTF-8 text.

-- The history itself. `body` is the entry as JSON, byte for byte what was hashed:
-- hash = HMAC-SHA256(key, "placet fact/1" 00 prev body). `seq`, `at_ms` and `kind` repeat what the body says.
CREATE TABLE facts (
    seq   INTEGER NOT NULL PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    kind  TEXT    NOT NULL,
    body  TEXT    NOT NULL,
    prev  BLOB    NOT NULL,
    hash  BLOB    NOT NULL,
    CONSTRAINT facts_seq_from_one CHECK (seq >= 1),
    CONSTRAINT facts_hash_is_sha256 CHECK (length(hash) = 32 AND length(prev) = 32)
) STRICT;

-- What is not a call: sessions, grants, policies, alerts, pauses.
CREATE INDEX facts_events ON facts (seq) WHERE kind NOT GLOB 'call_*' AND kind NOT GLOB 'approval_*';

-- One row for each time the history was pruned: facts up to `through_seq` are gone, the last of them had `hash`.
CREATE TABLE stubs (
    through_seq  INTEGER NOT NULL PRIMARY KEY,
    through_ms   INTEGER NOT NULL,
    hash         BLOB    NOT NULL,
    rows         INTEGER NOT NULL,
    pruned_at_ms INTEGER NOT NULL,
    mac          BLOB    NOT NULL,
    CONSTRAINT stubs_hash_is_sha256 CHECK (length(hash) = 32 AND length(mac) = 32)
) STRICT;

CREATE TRIGGER facts_are_never_changed BEFORE UPDATE ON facts BEGIN
    SELECT RAISE(ABORT, 'facts are never changed');
END;

CREATE TRIGGER facts_are_never_removed BEFORE DELETE ON facts
WHEN OLD.seq > (SELECT coalesce(max(through_seq), 0) FROM stubs) BEGIN
    SELECT RAISE(ABORT, 'facts are never removed, but by pruning, which leaves a stub');
END;

CREATE TRIGGER facts_follow_each_other BEFORE INSERT ON facts
WHEN NEW.seq <> 1 + max(
    (SELECT coalesce(max(seq), 0) FROM facts),
    (SELECT coalesce(max(seq), 0) FROM seal),
    (SELECT coalesce(max(through_seq), 0) FROM stubs)
) BEGIN
    SELECT RAISE(ABORT, 'facts follow each other without gaps');
END;

CREATE TRIGGER stubs_are_never_changed BEFORE UPDATE ON stubs BEGIN
    SELECT RAISE(ABORT, 'stubs are never changed');
END;

CREATE TRIGGER stubs_are_never_removed BEFORE DELETE ON stubs BEGIN
    SELECT RAISE(ABORT, 'stubs are never removed');
END;

-- One row: where the history ends and what the active grants add up to, under a MAC. It shows a cut tail, and a grant
-- put back from an older copy.
CREATE TABLE seal (
    one    INTEGER NOT NULL PRIMARY KEY,
    seq    INTEGER NOT NULL,
    hash   BLOB    NOT NULL,
    grants BLOB    NOT NULL,
    paused INTEGER NOT NULL,
    mac    BLOB    NOT NULL,
    CONSTRAINT seal_is_one_row CHECK (one = 1),
    CONSTRAINT seal_paused_is_yes_or_no CHECK (paused IN (0, 1)),
    CONSTRAINT seal_hash_is_sha256 CHECK (length(hash) = 32 AND length(grants) = 32 AND length(mac) = 32)
) STRICT;

-- Inputs and cards under their SHA-256, kept apart from the facts so that they can be deleted.
CREATE TABLE bodies (
    sha256  BLOB    NOT NULL PRIMARY KEY,
    bytes   BLOB    NOT NULL,
    used_ms INTEGER NOT NULL,
    CONSTRAINT bodies_sha256_is_sha256 CHECK (length(sha256) = 32)
) STRICT;

CREATE INDEX bodies_by_age ON bodies (used_ms);

CREATE TABLE sessions (
    id             TEXT    NOT NULL PRIMARY KEY,
    agent          TEXT    NOT NULL,
    client_session TEXT,
    workspace      BLOB    NOT NULL,
    parent         TEXT REFERENCES sessions (id),
    context        TEXT    NOT NULL,
    started_at_ms  INTEGER NOT NULL,
    stopped_at_ms  INTEGER,
    summary        TEXT,
    calls          INTEGER NOT NULL DEFAULT 0,
    tainted        INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT sessions_id_is_uuid CHECK (length(id) = 36),
    CONSTRAINT sessions_calls_count_up CHECK (calls >= 0),
    CONSTRAINT sessions_tainted_is_yes_or_no CHECK (tainted IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX sessions_by_client ON sessions (agent, client_session) WHERE client_session IS NOT NULL;

-- Questions and what became of them. What was asked stands in the fact `call_seq` (the asking, or the last refresh).
CREATE TABLE approvals (
    id              TEXT    NOT NULL PRIMARY KEY,
    session         TEXT    NOT NULL REFERENCES sessions (id),
    agent           TEXT    NOT NULL,
    asked_seq       INTEGER NOT NULL UNIQUE,
    call_seq        INTEGER NOT NULL,
    number          INTEGER NOT NULL,
    rule            TEXT,
    reason          TEXT    NOT NULL,
    asked_at_ms     INTEGER NOT NULL,
    expires_at_ms   INTEGER NOT NULL,
    waiter_pid      INTEGER,
    waiter_start    INTEGER,
    can_edit        INTEGER NOT NULL,
    input_sha256    BLOB    NOT NULL,
    card_sha256     BLOB    NOT NULL,
    state           TEXT    NOT NULL,
    state_at_ms     INTEGER,
    approved_seq    INTEGER,
    approved_digest BLOB,
    settled_seq     INTEGER,
    decided_by      TEXT,
    cancel_reason   TEXT,
    note            TEXT,
    changed         TEXT,
    CONSTRAINT approvals_id_is_uuid CHECK (length(id) = 36),
    CONSTRAINT approvals_state_is_known CHECK (state IN
        ('pending', 'approved', 'consumed', 'lapsed', 'void', 'denied', 'expired', 'cancelled')),
    CONSTRAINT approvals_waiter_is_whole CHECK ((waiter_pid IS NULL) = (waiter_start IS NULL)),
    CONSTRAINT approvals_can_edit_is_yes_or_no CHECK (can_edit IN (0, 1)),
    CONSTRAINT approvals_pending_has_no_answer CHECK ((state = 'pending') = (state_at_ms IS NULL)),
    CONSTRAINT approvals_yes_has_its_fact CHECK
        ((state IN ('approved', 'consumed', 'lapsed', 'void')) = (approved_seq IS NOT NULL AND approved_digest IS NOT NULL)),
    CONSTRAINT approvals_answer_has_its_word CHECK
        ((state IN ('approved', 'consumed', 'lapsed', 'void', 'denied')) = (decided_by IS NOT NULL)),
    CONSTRAINT approvals_open_is_not_settled CHECK ((state IN ('pending', 'approved')) = (settled_seq IS NULL)),
    CONSTRAINT approvals_cancelled_has_its_reason CHECK ((state = 'cancelled') = (cancel_reason IS NOT NULL)),
    CONSTRAINT approvals_void_says_what_changed CHECK ((state = 'void') = (changed IS NOT NULL)),
    CONSTRAINT approvals_answered_in_time CHECK (state <> 'approved' OR state_at_ms < expires_at_ms)
) STRICT, WITHOUT ROWID;

CREATE INDEX approvals_by_state ON approvals (state, id);
CREATE INDEX approvals_by_session ON approvals (session, id);
CREATE INDEX approvals_by_agent ON approvals (agent, state, id);
CREATE UNIQUE INDEX approvals_by_settling ON approvals (settled_seq) WHERE settled_seq IS NOT NULL;

-- Standing answers. `body` is the grant as JSON, `row_mac` a MAC of it: a row edited behind our back is not loaded.
CREATE TABLE grants (
    id            TEXT    NOT NULL PRIMARY KEY,
    state         TEXT    NOT NULL,
    issued_seq    INTEGER NOT NULL UNIQUE,
    body          TEXT    NOT NULL,
    ended_at_ms   INTEGER,
    revoked_by    TEXT,
    revoked_note  TEXT,
    row_mac       BLOB    NOT NULL,
    CONSTRAINT grants_id_is_uuid CHECK (length(id) = 36),
    CONSTRAINT grants_state_is_known CHECK (state IN ('active', 'expired', 'exhausted', 'revoked', 'dead')),
    CONSTRAINT grants_active_has_not_ended CHECK ((state = 'active') = (ended_at_ms IS NULL)),
    CONSTRAINT grants_revoked_by_somebody CHECK ((state = 'revoked') = (revoked_by IS NOT NULL)),
    CONSTRAINT grants_mac_is_sha256 CHECK (length(row_mac) = 32)
) STRICT, WITHOUT ROWID;

CREATE INDEX grants_by_state ON grants (state, id);

-- One row for each call, written after the commit that decided it, under the number of the fact that opened it. `digest_key` and `action_key` are the first
-- 63 bits of the digests, for finding them by their beginning.
CREATE TABLE calls (
    seq           INTEGER NOT NULL PRIMARY KEY,
    at_ms         INTEGER NOT NULL,
    session       TEXT    NOT NULL REFERENCES sessions (id),
    agent         TEXT    NOT NULL,
    tool          TEXT    NOT NULL,
    call_id       TEXT,
    action        TEXT    NOT NULL,
    subject       TEXT    NOT NULL,
    cwd           BLOB    NOT NULL,
    decision      TEXT    NOT NULL,
    decided_by    TEXT,
    note          TEXT,
    rule          TEXT,
    grant_id      TEXT,
    approval      TEXT,
    number        INTEGER,
    waited_ms     INTEGER,
    digest        BLOB,
    digest_key    INTEGER,
    action_digest BLOB    NOT NULL,
    action_key    INTEGER NOT NULL,
    flags         TEXT    NOT NULL,
    ran_seq       INTEGER,
    outcome       TEXT,
    duration_ms   INTEGER,
    CONSTRAINT calls_decision_is_known CHECK (decision IN
        ('allowed_by_rule', 'allowed_by_grant', 'denied_by_rule', 'denied_by_grant', 'denied_by_default',
         'denied_by_pause', 'refused', 'nobody_to_ask', 'repeated_denial', 'too_many_waiting', 'pending', 'approved',
         'consumed', 'lapsed', 'void', 'denied', 'expired', 'cancelled', 'unasked')),
    CONSTRAINT calls_asked_has_its_approval CHECK ((decision IN
        ('pending', 'approved', 'consumed', 'lapsed', 'void', 'denied', 'expired', 'cancelled')) = (approval IS NOT NULL)),
    CONSTRAINT calls_digests_are_sha256 CHECK
        (length(action_digest) = 32 AND (digest IS NULL OR length(digest) = 32)),
    CONSTRAINT calls_ran_is_whole CHECK ((ran_seq IS NULL) = (outcome IS NULL) AND (outcome IS NULL) = (duration_ms IS NULL))
) STRICT;

CREATE UNIQUE INDEX calls_by_approval ON calls (approval) WHERE approval IS NOT NULL;
CREATE INDEX calls_by_session ON calls (session, seq);
CREATE INDEX calls_by_decision ON calls (decision, seq);
CREATE INDEX calls_by_agent ON calls (agent, decision, seq);
CREATE INDEX calls_by_tool ON calls (tool, decision, seq);
CREATE INDEX calls_by_agent_and_tool ON calls (agent, tool, decision, seq);
CREATE INDEX calls_by_digest ON calls (digest_key) WHERE digest_key IS NOT NULL;
CREATE INDEX calls_by_action ON calls (action_key, seq);

-- The facts of a call after the one that opened it.
CREATE TABLE call_facts (
    seq  INTEGER NOT NULL PRIMARY KEY,
    call INTEGER NOT NULL
) STRICT;

CREATE INDEX call_facts_by_call ON call_facts (call, seq);

-- Paths with the folders above them, and hosts with the domains above them, that calls touched.
CREATE TABLE places (
    no   INTEGER NOT NULL PRIMARY KEY,
    kind TEXT    NOT NULL,
    name BLOB    NOT NULL,
    CONSTRAINT places_kind_is_known CHECK (kind IN ('path', 'host')),
    CONSTRAINT places_are_named_once UNIQUE (kind, name)
) STRICT;

CREATE TABLE call_places (
    place INTEGER NOT NULL REFERENCES places (no),
    call  INTEGER NOT NULL,
    PRIMARY KEY (place, call)
) STRICT, WITHOUT ROWID;

CREATE TABLE call_grants (
    grant_id TEXT    NOT NULL,
    call     INTEGER NOT NULL,
    PRIMARY KEY (grant_id, call)
) STRICT, WITHOUT ROWID;

-- What is searched of a call.
CREATE TABLE texts (
    call INTEGER NOT NULL PRIMARY KEY,
    text TEXT    NOT NULL
) STRICT;

CREATE VIRTUAL TABLE search USING fts5 (
    text, content = 'texts', content_rowid = 'call', tokenize = 'trigram', detail = none, columnsize = 0
);

-- Texts that changed since they were indexed, with what the index knows of them.
CREATE TABLE unsearched (
    call    INTEGER NOT NULL PRIMARY KEY,
    indexed TEXT    NOT NULL
) STRICT;

-- One row: up to which call the search index has come.
CREATE TABLE searched (
    one     INTEGER NOT NULL PRIMARY KEY,
    through INTEGER NOT NULL,
    CONSTRAINT searched_is_one_row CHECK (one = 1)
) STRICT;

INSERT INTO searched (one, through) VALUES (1, 0);

-- One row: up to which fact the calls, and what they are found by, have followed the facts.
CREATE TABLE followed (
    one     INTEGER NOT NULL PRIMARY KEY,
    through INTEGER NOT NULL,
    CONSTRAINT followed_is_one_row CHECK (one = 1)
) STRICT;

INSERT INTO followed (one, through) VALUES (1, 0);

-- The calls of each hour: the range of their numbers, and how many had which decision.
CREATE TABLE hours (
    hour_ms INTEGER NOT NULL PRIMARY KEY,
    first   INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    CONSTRAINT hours_are_ranges CHECK (first <= last)
) STRICT;

CREATE TABLE counters (
    hour_ms  INTEGER NOT NULL,
    decision TEXT    NOT NULL,
    agent    TEXT    NOT NULL,
    tool     TEXT    NOT NULL,
    calls    INTEGER NOT NULL,
    PRIMARY KEY (hour_ms, decision, agent, tool),
    CONSTRAINT counters_count_up CHECK (calls >= 0)
) STRICT, WITHOUT ROWID;

-- How each tool of an MCP server was described when it was last let through: for whom, where. It outlives the day that
-- is recalled of calls, and what retention prunes.
CREATE TABLE definitions (
    agent      TEXT    NOT NULL,
    workspace  BLOB    NOT NULL,
    tool       TEXT    NOT NULL,
    definition BLOB    NOT NULL,
    seq        INTEGER NOT NULL,
    PRIMARY KEY (agent, workspace, tool),
    CONSTRAINT definitions_are_digests CHECK (length(definition) = 32)
) STRICT, WITHOUT ROWID;
