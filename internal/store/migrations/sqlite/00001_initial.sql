-- Times are Unix seconds, UTC. Amounts are integers in the currency's minor unit.
-- The numbers of states, actors and event types are those of package order, the
-- statuses of invoices those of package store. Both are stored: append new ones,
-- never renumber. Every key begins with the merchant, except in the small tables
-- of what is unique in the whole service.

-- +goose Up
CREATE TABLE merchants (
    id         INTEGER NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    last_event INTEGER NOT NULL DEFAULT 0, -- number of the newest event
    data_mark  INTEGER NOT NULL DEFAULT 0  -- mark of the newest event
);

CREATE TABLE tokens (
    id           INTEGER NOT NULL PRIMARY KEY,
    hash         BLOB    NOT NULL UNIQUE, -- SHA-256 of the token, which is not stored
    merchant_id  INTEGER NOT NULL, -- 0: an operator's token
    scopes       INTEGER NOT NULL,
    hint         TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER
);

-- The highest number given out of each kind, for the whole service.
CREATE TABLE counters (
    name TEXT    NOT NULL PRIMARY KEY,
    last INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counters (name, last) VALUES ('order', 0), ('invoice', 0), ('token', 0);

-- Two rows for each order: its reference, and '#' with its legacy id. Both are
-- unique in the whole service.
CREATE TABLE order_keys (
    key         TEXT    NOT NULL PRIMARY KEY,
    merchant_id INTEGER NOT NULL
) WITHOUT ROWID;

-- Lists read the columns before details only.
CREATE TABLE orders (
    merchant_id     INTEGER NOT NULL,
    legacy_id       INTEGER NOT NULL,
    reference       TEXT    NOT NULL,
    state           INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER,
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
    revision        INTEGER NOT NULL,
    active_invoices INTEGER NOT NULL, -- active files and reservations
    digest          BLOB    NOT NULL, -- of the order document
    details         BLOB    NOT NULL, -- protobuf, see orderpb/order.proto
    PRIMARY KEY (merchant_id, legacy_id),
    UNIQUE (merchant_id, reference)
);
CREATE INDEX orders_by_time ON orders (merchant_id, created_at, legacy_id);
CREATE INDEX orders_by_state ON orders (merchant_id, state, created_at, legacy_id);

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
-- For the janitor. It has no active invoices.
CREATE INDEX invoices_to_clean ON invoices (status, created_at) WHERE purged_at IS NULL AND status <> 2;

CREATE TABLE events (
    merchant_id INTEGER NOT NULL,
    seq         INTEGER NOT NULL, -- 1, 2, 3, ... for each merchant, in commit order
    mark        INTEGER NOT NULL, -- a random number of the transaction
    type        INTEGER NOT NULL,
    actor       INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    legacy_id   INTEGER NOT NULL, -- of the order
    order_day   INTEGER NOT NULL, -- day on which the order was created
    from_state  INTEGER NOT NULL, -- 0: none
    to_state    INTEGER NOT NULL, -- 0: none
    reason      TEXT,
    invoice_id  INTEGER,
    PRIMARY KEY (merchant_id, seq)
) WITHOUT ROWID;
CREATE INDEX events_by_order ON events (merchant_id, legacy_id, seq);

-- Idempotency records: the responses recorded for keys. A record is written in
-- the transaction of the change.
CREATE TABLE idempotency_keys (
    merchant_id    INTEGER NOT NULL,
    key            TEXT    NOT NULL, -- chosen by the merchant
    request_digest BLOB    NOT NULL, -- SHA-256 of the request
    created_at     INTEGER NOT NULL,
    legacy_id      INTEGER, -- with invoice_id: the reservation of an upload
    invoice_id     INTEGER,
    response       BLOB, -- NULL: in progress as long as that reservation exists
    PRIMARY KEY (merchant_id, key)
) WITHOUT ROWID;
-- For the janitor, which deletes the oldest.
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);

-- +goose Down
DROP TABLE idempotency_keys;
DROP TABLE events;
DROP TABLE invoices;
DROP TABLE order_days;
DROP TABLE orders;
DROP TABLE order_keys;
DROP TABLE counters;
DROP TABLE tokens;
DROP TABLE merchants;
