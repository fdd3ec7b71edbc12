-- Keys under which merchants asked for changes, each with the answer that was
-- given, for a day. Written in the transaction of the change.

-- +goose Up
CREATE TABLE idempotency_keys (
    merchant_id  INTEGER NOT NULL,
    key          TEXT    NOT NULL, -- the merchant's own choice
    request      BLOB    NOT NULL, -- SHA-256 of what was asked for
    taken_at     INTEGER NOT NULL,
    order_number INTEGER, -- with invoice_id: the reservation of an upload
    invoice_id   INTEGER,
    answer       BLOB,    -- NULL: under way as long as that reservation is there
    PRIMARY KEY (merchant_id, key)
) WITHOUT ROWID;
-- For forgetting the old ones.
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (taken_at);

-- +goose Down
DROP TABLE idempotency_keys;
