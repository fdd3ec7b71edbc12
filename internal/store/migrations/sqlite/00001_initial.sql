-- Times are Unix seconds, UTC. Amounts are integers in the currency's minor unit.
-- The numbers of states, actors and event types are those of package order, the
-- statuses of invoices those of package store. Both are stored: append new ones,
-- never renumber. Every key begins with the merchant, except in the small tables
-- of what is unique in the whole service, and in the words of the search.

-- +goose Up
-- The migration history. goose_db_version has its steps too, but not what they were.
CREATE TABLE schema_steps (
    version     INTEGER NOT NULL PRIMARY KEY,
    fingerprint TEXT    NOT NULL -- of the file that was run, see package migrations
);

CREATE TABLE merchants (
    id                INTEGER NOT NULL PRIMARY KEY,
    name              TEXT    NOT NULL,
    name_nonce        INTEGER NOT NULL DEFAULT 0, -- of the newest renaming; 0: none
    created_at        INTEGER NOT NULL,
    suspended_at      INTEGER, -- NULL: not suspended
    suspension_reason TEXT    NOT NULL DEFAULT '',
    rate_limit        INTEGER NOT NULL DEFAULT 0, -- requests a second of each token; 0: the default
    rate_burst        INTEGER NOT NULL DEFAULT 0,
    time_zone         TEXT    NOT NULL DEFAULT '', -- whose days its staff see; '': that of the service
    last_event        INTEGER NOT NULL DEFAULT 0, -- number of the newest event
    data_nonce        INTEGER NOT NULL DEFAULT 0, -- of the newest event
    -- Names a sequence of the merchant's events: numbers may be given out again in another
    -- one only. It is new wherever the merchant is inserted, so copies have histories of
    -- their own.
    history           TEXT    NOT NULL DEFAULT (lower(hex(randomblob(8)))),
    last_position     INTEGER NOT NULL DEFAULT 0, -- of the newest event, see events.position
    audit_seq         INTEGER NOT NULL DEFAULT 0, -- number of the newest entry in audit
    -- How many orders are in each state, so that numbers of all merchants read one row for
    -- each.
    in_state_1        INTEGER NOT NULL DEFAULT 0,
    in_state_2        INTEGER NOT NULL DEFAULT 0,
    in_state_3        INTEGER NOT NULL DEFAULT 0,
    in_state_4        INTEGER NOT NULL DEFAULT 0,
    in_state_5        INTEGER NOT NULL DEFAULT 0,
    in_state_6        INTEGER NOT NULL DEFAULT 0,
    in_state_7        INTEGER NOT NULL DEFAULT 0,
    in_state_8        INTEGER NOT NULL DEFAULT 0,
    in_state_9        INTEGER NOT NULL DEFAULT 0,
    in_state_10       INTEGER NOT NULL DEFAULT 0,
    in_state_11       INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX merchants_by_name ON merchants (name, id);
CREATE INDEX merchants_suspended ON merchants (id) WHERE suspended_at IS NOT NULL;

CREATE TABLE tokens (
    id             INTEGER NOT NULL PRIMARY KEY,
    hash           BLOB    NOT NULL UNIQUE, -- SHA-256 of the token, which is not stored
    merchant_id    INTEGER NOT NULL, -- 0: an operator's token
    scopes         INTEGER NOT NULL,
    hint           TEXT    NOT NULL,
    label          TEXT    NOT NULL DEFAULT '',
    created_at     INTEGER NOT NULL,
    created_by     INTEGER, -- id of the token that made it; NULL: a command did
    expires_at     INTEGER,
    bound_at       INTEGER, -- when tokens that it makes end at the latest: expires_at before any rotation
    revoked_at     INTEGER,
    last_used_at   INTEGER,
    last_used_from TEXT -- IP address
);
CREATE INDEX tokens_by_merchant ON tokens (merchant_id, id);
CREATE INDEX tokens_by_creator ON tokens (created_by) WHERE created_by IS NOT NULL;

-- Sign-ins of people at the console. Cookies and links are not stored, only the
-- SHA-256 of their random part. A session acts as its token. It is no data of a
-- merchant: it is not copied to another database, where people sign in again.
CREATE TABLE sessions (
    hash         BLOB    NOT NULL PRIMARY KEY,
    token_id     INTEGER NOT NULL,
    owns_token   INTEGER NOT NULL, -- 0 or 1: a login link made the token for this session
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL -- accurate to a few minutes
) WITHOUT ROWID;
-- To delete those that have expired.
CREATE INDEX sessions_by_use ON sessions (last_used_at);
CREATE INDEX sessions_by_token ON sessions (token_id);

CREATE TABLE login_links (
    hash        BLOB    NOT NULL PRIMARY KEY,
    merchant_id INTEGER NOT NULL,
    created_by  INTEGER, -- token; NULL: a command
    scopes      INTEGER NOT NULL, -- of the token that the session gets
    name        TEXT    NOT NULL, -- of the person that it is for; empty: not given
    expires_at  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX login_links_by_expiry ON login_links (expires_at);

-- The key that signs the links to invoice files, one row or none.
CREATE TABLE link_key (
    id         INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    secret     BLOB    NOT NULL, -- 32 random bytes
    created_at INTEGER NOT NULL
);

-- The highest number given out of each kind, for the whole service.
CREATE TABLE counters (
    name TEXT    NOT NULL PRIMARY KEY,
    last INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counters (name, last) VALUES ('order', 0), ('invoice', 0), ('token', 0), ('webhook', 0), ('audit', 0);

-- Two rows for each order: its reference, and '#' with its legacy id. Both are
-- unique in the whole service.
CREATE TABLE order_keys (
    key         TEXT    NOT NULL PRIMARY KEY,
    merchant_id INTEGER NOT NULL
) WITHOUT ROWID;

-- Lists and searches read the columns before digest only.
CREATE TABLE orders (
    merchant_id     INTEGER NOT NULL,
    legacy_id       INTEGER NOT NULL,
    reference       TEXT    NOT NULL,
    state           INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER,
    expires_at      INTEGER, -- NULL: none
    deadline_warned INTEGER NOT NULL DEFAULT 0, -- 1: the event of the service that expires_at is near was written
    currency        TEXT    NOT NULL,
    country_code    TEXT    NOT NULL,
    total           INTEGER NOT NULL,
    has_invoice     INTEGER NOT NULL, -- 0 or 1: invoice details exist
    user_id         INTEGER NOT NULL,
    email           TEXT    NOT NULL,
    phone           TEXT,
    first_name      TEXT    NOT NULL,
    last_name       TEXT    NOT NULL,
    company         TEXT    NOT NULL,
    merchant_reference TEXT, -- the merchant's own, with its note: the marketplace does not see them
    merchant_note TEXT,
    revision        INTEGER NOT NULL,
    active_invoices INTEGER NOT NULL, -- active files and reservations
    digest          BLOB    NOT NULL, -- of the order document
    details         BLOB    NOT NULL, -- protobuf, see orderpb/order.proto
    PRIMARY KEY (merchant_id, legacy_id),
    UNIQUE (merchant_id, reference)
);
CREATE INDEX orders_by_time ON orders (merchant_id, created_at, legacy_id);
CREATE INDEX orders_by_state ON orders (merchant_id, state, created_at, legacy_id);
-- For operators, who search the orders of all merchants. The orders of each state,
-- merged, are those of any state.
CREATE INDEX orders_of_all_by_state ON orders (state, created_at, legacy_id, merchant_id);
CREATE INDEX orders_of_all_by_update ON orders (updated_at, legacy_id, merchant_id) WHERE updated_at IS NOT NULL;
-- Registered orders, whose merchant has yet to answer. An order is in two of these indexes
-- if it has a deadline, and else in one.
CREATE INDEX orders_with_deadline ON orders (merchant_id, state, expires_at, created_at, legacy_id) WHERE state = 1 AND expires_at IS NOT NULL;
CREATE INDEX orders_without_deadline ON orders (merchant_id, state, created_at, legacy_id) WHERE state = 1 AND expires_at IS NULL;
CREATE INDEX orders_open_deadlines ON orders (state, expires_at, legacy_id, merchant_id, deadline_warned) WHERE state = 1 AND expires_at IS NOT NULL;

-- What is left of an order that is older than the retention time: enough for its events
-- and its order keys.
CREATE TABLE deleted_orders (
    merchant_id INTEGER NOT NULL,
    legacy_id   INTEGER NOT NULL,
    reference   TEXT    NOT NULL,
    created_at  INTEGER NOT NULL, -- of the order
    deleted_at  INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, legacy_id),
    UNIQUE (merchant_id, reference)
) WITHOUT ROWID;

-- The words by which operators find an order. A block with a negative number has the
-- words of a period. New words are staged in small blocks with positive numbers, so that
-- an import changes few pages of the file; a background job moves them to their periods.
CREATE TABLE order_words (
    block       INTEGER NOT NULL,
    word        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL, -- of the order
    legacy_id   INTEGER NOT NULL,
    merchant_id INTEGER NOT NULL,
    PRIMARY KEY (block, word, created_at, legacy_id, merchant_id)
) WITHOUT ROWID;

-- How many orders created on a day (days since 1970-01-01) are in a state.
CREATE TABLE order_days (
    merchant_id INTEGER NOT NULL,
    day         INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    orders      INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, day, state)
) WITHOUT ROWID;

CREATE TABLE invoices (
    merchant_id INTEGER NOT NULL,
    legacy_id   INTEGER NOT NULL, -- of the order
    id          INTEGER NOT NULL,
    name        TEXT    NOT NULL, -- of the stored file, never used again in the order
    status      INTEGER NOT NULL,
    size        INTEGER NOT NULL, -- bytes
    sha256      BLOB    NOT NULL,
    created_at  INTEGER NOT NULL,
    deleted_at  INTEGER, -- when it was soft-deleted or its reservation expired
    purged_at   INTEGER, -- when the file was removed
    PRIMARY KEY (merchant_id, legacy_id, id),
    UNIQUE (merchant_id, legacy_id, name)
);
-- The active invoices of an order, however many of its files were deleted.
CREATE INDEX invoices_active ON invoices (merchant_id, legacy_id, id) WHERE status = 2;
-- For the janitor. It has no active invoices.
CREATE INDEX invoices_to_clean ON invoices (status, created_at) WHERE purged_at IS NULL AND status <> 2;

CREATE TABLE events (
    merchant_id INTEGER NOT NULL,
    seq         INTEGER NOT NULL, -- 1, 2, 3, ... for each merchant, in commit order
    nonce       INTEGER NOT NULL, -- a random number of the transaction
    type        INTEGER NOT NULL,
    actor       INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    legacy_id   INTEGER NOT NULL, -- of the order; 0: the event is of a webhook
    order_day   INTEGER NOT NULL, -- day on which the order was created
    from_state  INTEGER NOT NULL, -- 0: none
    to_state    INTEGER NOT NULL, -- 0: none
    reason      TEXT,
    detail      TEXT, -- of an update: the names of the changed fields, separated by spaces; of order.deadline_near: the deadline
    invoice_id  INTEGER,
    webhook_id  INTEGER,
    token_id    INTEGER, -- that made the change; NULL: none did, such as for a command
    request_id  TEXT,
    position    INTEGER NOT NULL DEFAULT 0, -- in the feed of all merchants, see event_feed; 0: copied from another database
    PRIMARY KEY (merchant_id, seq)
) WITHOUT ROWID;
CREATE INDEX events_by_order ON events (merchant_id, legacy_id, seq);
CREATE INDEX events_by_position ON events (position, merchant_id, seq);

-- The feed of all merchants has their events by position, merchant and number. The one
-- writer gives each transaction the next position.
CREATE TABLE event_feed (
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    history INTEGER NOT NULL DEFAULT (1 + abs(random() >> 1)), -- its cursors are valid in one history only
    server  INTEGER NOT NULL DEFAULT 0, -- PostgreSQL only
    base    INTEGER NOT NULL DEFAULT 0  -- PostgreSQL only
);
INSERT INTO event_feed (id) VALUES (1);

-- The audit log: one row for each change, never updated or deleted. Each merchant has
-- a chain of its own, and merchant 0 has that of what belongs to no merchant. The
-- number of its last entry is in merchants.audit_seq or in counters, and that row is
-- locked while an entry is appended. No column holds personal data of customers.
CREATE TABLE audit (
    merchant_id INTEGER NOT NULL, -- 0: of no merchant
    seq         INTEGER NOT NULL, -- 1, 2, 3, ... for each merchant, in commit order
    at          INTEGER NOT NULL,
    action      TEXT    NOT NULL, -- such as order.created
    actor       INTEGER NOT NULL,
    token_id    INTEGER NOT NULL, -- 0: a command, or the service itself
    request_id  TEXT    NOT NULL,
    address     TEXT    NOT NULL, -- IP address of the client
    legacy_id   INTEGER NOT NULL, -- of the order; 0: none
    reference   TEXT    NOT NULL, -- of the order
    subject_id  INTEGER NOT NULL, -- of the file, token or webhook; 0: none
    detail      TEXT    NOT NULL, -- key=value of state and field names, separated by spaces
    hash        BLOB    NOT NULL, -- SHA-256 of the previous hash and this entry, see order.AuditEntry
    PRIMARY KEY (merchant_id, seq)
) WITHOUT ROWID;
CREATE INDEX audit_by_time ON audit (at, merchant_id, seq);
CREATE INDEX audit_by_order ON audit (merchant_id, legacy_id, seq) WHERE legacy_id <> 0;

-- Idempotency records: the responses recorded for keys. A record is written in
-- the transaction of the change.
CREATE TABLE idempotency_keys (
    merchant_id    INTEGER NOT NULL,
    key            TEXT    NOT NULL, -- chosen by the merchant, or by an operator: the merchant is 0
    line           INTEGER NOT NULL, -- number of a line of a bulk request; 0: of the whole request
    request_digest BLOB    NOT NULL, -- SHA-256 of the request or line
    created_at     INTEGER NOT NULL,
    legacy_id      INTEGER, -- with invoice_id: the reservation of an upload
    invoice_id     INTEGER,
    response       BLOB, -- NULL: in progress as long as that reservation exists
    PRIMARY KEY (merchant_id, key, line)
) WITHOUT ROWID;
-- For the janitor, which deletes the oldest.
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);

-- Endpoints of webhooks. An endpoint is a cursor on the merchant's events, or on those of
-- all merchants: nothing is stored for an event that is yet to be delivered.
CREATE TABLE webhooks (
    merchant_id      INTEGER NOT NULL, -- 0: of the marketplace, with the events of all merchants
    id               INTEGER NOT NULL, -- unique in the whole service
    url              TEXT    NOT NULL,
    description      TEXT    NOT NULL,
    types            INTEGER NOT NULL, -- bits of event types; 0: all
    include_orders   INTEGER NOT NULL, -- 1: deliveries have the order of their event
    headers          TEXT    NOT NULL, -- JSON object of names and values, in plain text like secret; empty: none
    username         TEXT    NOT NULL, -- of Basic authentication; empty: none
    password         TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    secret           TEXT    NOT NULL, -- in plain text: it signs
    old_secret       TEXT    NOT NULL, -- signs too until old_secret_until; empty: none
    old_secret_until INTEGER,
    state            INTEGER NOT NULL, -- see webhook.State
    reason           TEXT    NOT NULL, -- why the service disabled it
    state_set_at     INTEGER,
    acknowledged     INTEGER NOT NULL, -- cursor: number of the last event delivered or skipped
    event_merchant   INTEGER NOT NULL, -- with the next three: of that event, if merchant_id is 0
    event_position   INTEGER NOT NULL,
    event_nonce      INTEGER NOT NULL,
    feed_history     INTEGER NOT NULL, -- event_feed.history at that time
    failures         INTEGER NOT NULL, -- since the last success
    failing_since    INTEGER,
    next_attempt_at  INTEGER,
    mail             INTEGER NOT NULL, -- 1: url is an e-mail address
    language         TEXT    NOT NULL, -- with the next four: of an e-mail address
    digest_every     INTEGER NOT NULL, -- seconds between two digests of new orders
    sent_at          INTEGER, -- the last e-mail
    link_hash        TEXT    NOT NULL, -- SHA-256 of the secret in the link that confirms it; empty: none
    link_until       INTEGER,
    held             TEXT    NOT NULL DEFAULT '', -- JSON of webhook.Held; empty: none
    held_until       INTEGER, -- their next attempt; NULL: none
    deliveries       INTEGER NOT NULL DEFAULT 0, -- id of the newest row in webhook_deliveries
    lease_number     INTEGER NOT NULL DEFAULT 0, -- counts the leases
    revision         INTEGER NOT NULL DEFAULT 0, -- counts the changes by requests
    lease_until      INTEGER, -- NULL: free
    PRIMARY KEY (merchant_id, id)
) WITHOUT ROWID;
CREATE INDEX webhooks_by_id ON webhooks (id); -- for operators

-- What was delivered to endpoints.
CREATE TABLE webhook_deliveries (
    merchant_id    INTEGER NOT NULL,
    webhook_id     INTEGER NOT NULL,
    id             INTEGER NOT NULL, -- 1, 2, 3, ... for each webhook
    at             INTEGER NOT NULL,
    message_id     TEXT    NOT NULL,
    event_seq      INTEGER NOT NULL, -- 0: a test
    event_merchant INTEGER NOT NULL, -- of the event, if merchant_id is 0
    event_type     TEXT    NOT NULL,
    status         INTEGER NOT NULL, -- of the response; 0: none
    error          TEXT    NOT NULL, -- empty: acknowledged
    took_ms        INTEGER NOT NULL,
    response       TEXT    NOT NULL, -- first bytes of the body
    PRIMARY KEY (merchant_id, webhook_id, id)
) WITHOUT ROWID;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (merchant_id, event_seq); -- for operators, who see those of an order
