-- Times are Unix seconds, UTC. Amounts are integers in the currency's minor unit.
-- The numbers of states, actors and event types are those of package order, the
-- statuses of invoices those of package store. Both are stored: append new ones,
-- never renumber. Every key begins with the merchant, except in the small tables
-- of what is unique in the whole service.

-- +goose Up
CREATE TABLE merchants (
    id         BIGINT   NOT NULL PRIMARY KEY,
    name       TEXT     NOT NULL,
    created_at BIGINT   NOT NULL,
    last_event BIGINT   NOT NULL DEFAULT 0, -- number of the newest event
    data_mark  BIGINT   NOT NULL DEFAULT 0  -- mark of the newest event
);

CREATE TABLE tokens (
    id           BIGINT   NOT NULL PRIMARY KEY,
    hash         BYTEA    NOT NULL UNIQUE, -- SHA-256 of the token, which is not stored
    merchant_id  BIGINT   NOT NULL, -- 0: an operator's token
    scopes       SMALLINT NOT NULL,
    hint         TEXT     NOT NULL,
    created_at   BIGINT   NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT,
    last_used_at BIGINT
);

-- The highest number given out of each kind, for the whole service.
CREATE TABLE counters (
    name TEXT     NOT NULL PRIMARY KEY,
    last BIGINT   NOT NULL
);
INSERT INTO counters (name, last) VALUES ('order', 0), ('token', 0);

-- Ids of invoices. Unlike a row in counters it is not locked until the commit.
CREATE SEQUENCE invoice_ids;

-- Two rows for each order: its reference, and '#' with its legacy id. Both are
-- unique in the whole service.
CREATE TABLE order_keys (
    key         TEXT     NOT NULL PRIMARY KEY,
    merchant_id BIGINT   NOT NULL
);

-- Lists read the columns before details only.
CREATE TABLE orders (
    merchant_id     BIGINT   NOT NULL,
    legacy_id       BIGINT   NOT NULL,
    reference       TEXT     NOT NULL,
    state           SMALLINT NOT NULL,
    created_at      BIGINT   NOT NULL,
    updated_at      BIGINT,
    currency        TEXT     NOT NULL,
    country_code    TEXT     NOT NULL,
    total           BIGINT   NOT NULL,
    has_invoice     SMALLINT NOT NULL, -- 0 or 1: invoice details exist
    user_id         BIGINT   NOT NULL,
    email           TEXT     NOT NULL,
    phone           TEXT,
    first_name      TEXT     NOT NULL,
    last_name       TEXT     NOT NULL,
    company         TEXT     NOT NULL,
    revision        BIGINT   NOT NULL,
    active_invoices SMALLINT NOT NULL, -- active files and reservations
    digest          BYTEA    NOT NULL, -- of the order document
    details         BYTEA    NOT NULL, -- protobuf, see orderpb/order.proto
    PRIMARY KEY (merchant_id, legacy_id),
    UNIQUE (merchant_id, reference)
);
CREATE INDEX orders_by_time ON orders (merchant_id, created_at, legacy_id);
CREATE INDEX orders_by_state ON orders (merchant_id, state, created_at, legacy_id);

-- How many orders created on a day (days since 1970-01-01) are in a state.
CREATE TABLE order_days (
    merchant_id BIGINT   NOT NULL,
    day         INTEGER  NOT NULL,
    state       SMALLINT NOT NULL,
    orders      BIGINT   NOT NULL,
    PRIMARY KEY (merchant_id, day, state)
);

CREATE TABLE invoices (
    merchant_id BIGINT   NOT NULL,
    legacy_id   BIGINT   NOT NULL, -- of the order
    id          BIGINT   NOT NULL,
    name        TEXT     NOT NULL, -- of the stored file, never used again in the order
    status      SMALLINT NOT NULL,
    size        BIGINT   NOT NULL, -- bytes
    sha256      BYTEA    NOT NULL,
    created_at  BIGINT   NOT NULL,
    deleted_at  BIGINT, -- when it was soft-deleted or its reservation expired
    purged_at   BIGINT, -- when the file was removed
    PRIMARY KEY (merchant_id, legacy_id, id),
    UNIQUE (merchant_id, legacy_id, name)
);
-- For the janitor. It has no active invoices.
CREATE INDEX invoices_to_clean ON invoices (status, created_at) WHERE purged_at IS NULL AND status <> 2;

CREATE TABLE events (
    merchant_id BIGINT   NOT NULL,
    seq         BIGINT   NOT NULL, -- 1, 2, 3, ... for each merchant, in commit order
    mark        BIGINT   NOT NULL, -- a random number of the transaction
    type        SMALLINT NOT NULL,
    actor       SMALLINT NOT NULL,
    at          BIGINT   NOT NULL,
    legacy_id   BIGINT   NOT NULL, -- of the order
    order_day   INTEGER  NOT NULL, -- day on which the order was created
    from_state  SMALLINT NOT NULL, -- 0: none
    to_state    SMALLINT NOT NULL, -- 0: none
    reason      TEXT,
    invoice_id  BIGINT,
    PRIMARY KEY (merchant_id, seq)
);
CREATE INDEX events_by_order ON events (merchant_id, legacy_id, seq);

-- Idempotency records: the responses recorded for keys. A record is written in
-- the transaction of the change.
CREATE TABLE idempotency_keys (
    merchant_id    BIGINT   NOT NULL,
    key            TEXT     NOT NULL, -- chosen by the merchant
    request_digest BYTEA    NOT NULL, -- SHA-256 of the request
    created_at     BIGINT   NOT NULL,
    legacy_id      BIGINT, -- with invoice_id: the reservation of an upload
    invoice_id     BIGINT,
    response       BYTEA, -- NULL: in progress as long as that reservation exists
    PRIMARY KEY (merchant_id, key)
);
-- For the janitor, which deletes the oldest.
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);

-- +goose Down
DROP TABLE idempotency_keys;
DROP TABLE events;
DROP TABLE invoices;
DROP TABLE order_days;
DROP TABLE orders;
DROP TABLE order_keys;
DROP SEQUENCE invoice_ids;
DROP TABLE counters;
DROP TABLE tokens;
DROP TABLE merchants;
