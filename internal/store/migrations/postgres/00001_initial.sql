-- Times are Unix seconds, UTC. Amounts are integers in the currency's minor
-- unit. Numbers of states, actors, types of events and statuses are those of
-- package order and of invoice.go here; they are appended to, never reordered.
-- Every key begins with the merchant, but for the two small tables that hold
-- what is unique in the whole service.

-- +goose Up
CREATE TABLE merchants (
    id           BIGINT   NOT NULL PRIMARY KEY,
    name         TEXT     NOT NULL,
    created_at   BIGINT   NOT NULL,
    last_event   BIGINT   NOT NULL DEFAULT 0 -- number of the newest event
);

CREATE TABLE tokens (
    id           BIGINT   NOT NULL PRIMARY KEY,
    hash         BYTEA    NOT NULL UNIQUE, -- SHA-256 of the text, which is kept nowhere
    merchant_id  BIGINT   NOT NULL, -- 0: an operator's token
    scopes       SMALLINT NOT NULL,
    hint         TEXT     NOT NULL,
    created_at   BIGINT   NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT,
    last_used_at BIGINT
);

-- The newest number of a kind, for the whole service.
CREATE TABLE counters (
    name         TEXT     NOT NULL PRIMARY KEY,
    last         BIGINT   NOT NULL
);
INSERT INTO counters (name, last) VALUES ('order', 0), ('token', 0);

-- Ids of invoice files. Unlike a counter it locks nothing.
CREATE SEQUENCE invoice_ids;

-- Two rows an order, its reference and '#' with its number: both are unique in
-- the whole service. Written when an order comes in, read by nothing else.
CREATE TABLE order_keys (
    key          TEXT     NOT NULL PRIMARY KEY,
    merchant_id  BIGINT   NOT NULL
);

-- What lists show stands in columns before details, which lists never read.
CREATE TABLE orders (
    merchant_id     BIGINT   NOT NULL,
    number          BIGINT   NOT NULL,
    reference       TEXT     NOT NULL,
    state           SMALLINT NOT NULL,
    created_at      BIGINT   NOT NULL,
    updated_at      BIGINT,
    currency        TEXT     NOT NULL,
    country_code    TEXT     NOT NULL,
    total           BIGINT   NOT NULL,
    has_invoice     SMALLINT NOT NULL, -- 0 or 1
    user_id         BIGINT   NOT NULL,
    email           TEXT     NOT NULL,
    phone           TEXT,
    first_name      TEXT     NOT NULL,
    last_name       TEXT     NOT NULL,
    company         TEXT     NOT NULL,
    revision        BIGINT   NOT NULL,
    active_invoices SMALLINT NOT NULL, -- active files and reserved places
    digest          BYTEA    NOT NULL, -- of the document that came in
    details         TEXT     NOT NULL, -- JSON, see details.go
    PRIMARY KEY (merchant_id, number),
    UNIQUE (merchant_id, reference)
);
CREATE INDEX orders_by_time ON orders (merchant_id, created_at, number);
CREATE INDEX orders_by_state ON orders (merchant_id, state, created_at, number);

-- How many orders of a state were created on a day (days since 1970-01-01).
CREATE TABLE order_days (
    merchant_id  BIGINT   NOT NULL,
    day          INTEGER  NOT NULL,
    state        SMALLINT NOT NULL,
    orders       BIGINT   NOT NULL,
    PRIMARY KEY (merchant_id, day, state)
);

CREATE TABLE invoices (
    merchant_id  BIGINT   NOT NULL,
    order_number BIGINT   NOT NULL,
    id           BIGINT   NOT NULL,
    name         TEXT     NOT NULL, -- stored name, used once in an order
    status       SMALLINT NOT NULL,
    size         BIGINT   NOT NULL, -- bytes
    sha256       BYTEA    NOT NULL,
    created_at   BIGINT   NOT NULL,
    ended_at     BIGINT, -- deleted or abandoned
    purged_at    BIGINT, -- the file is gone
    PRIMARY KEY (merchant_id, order_number, id),
    UNIQUE (merchant_id, order_number, name)
);
-- For sweeping and purging; tells nothing about active ones.
CREATE INDEX invoices_to_clean ON invoices (status, created_at) WHERE purged_at IS NULL AND status <> 2;

CREATE TABLE events (
    merchant_id  BIGINT   NOT NULL,
    seq          BIGINT   NOT NULL, -- 1, 2, 3, ... for each merchant, in commit order
    type         SMALLINT NOT NULL,
    actor        SMALLINT NOT NULL,
    at           BIGINT   NOT NULL,
    order_number BIGINT   NOT NULL,
    order_day    INTEGER  NOT NULL, -- day on which the order was created
    from_state   SMALLINT NOT NULL, -- 0: none
    to_state     SMALLINT NOT NULL, -- 0: none
    reason       TEXT,
    invoice_id   BIGINT,
    PRIMARY KEY (merchant_id, seq)
);
CREATE INDEX events_of_order ON events (merchant_id, order_number, seq);

-- +goose Down
DROP TABLE events;
DROP TABLE invoices;
DROP TABLE order_days;
DROP TABLE orders;
DROP TABLE order_keys;
DROP SEQUENCE invoice_ids;
DROP TABLE counters;
DROP TABLE tokens;
DROP TABLE merchants;
