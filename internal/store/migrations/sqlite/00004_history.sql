-- history names a sequence of a merchant's events: numbers may be given out again
-- in another one only. It is new wherever the merchant is inserted, so copies have
-- histories of their own. A column that is added to a table cannot have such a
-- default, so the table is made again.

-- +goose Up
CREATE TABLE merchants_with_history (
    id         INTEGER NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    last_event INTEGER NOT NULL DEFAULT 0, -- number of the newest event
    data_mark  INTEGER NOT NULL DEFAULT 0, -- mark of the newest event
    history    TEXT    NOT NULL DEFAULT (lower(hex(randomblob(8))))
);
INSERT INTO merchants_with_history (id, name, created_at, last_event, data_mark)
    SELECT id, name, created_at, last_event, data_mark FROM merchants;
DROP TABLE merchants;
ALTER TABLE merchants_with_history RENAME TO merchants;

-- +goose Down
ALTER TABLE merchants DROP COLUMN history;
