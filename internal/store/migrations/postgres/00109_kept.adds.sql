-- What the console keeps for people: saved views, and results of changes of many orders.

-- +goose Up
CREATE TABLE kept (
    merchant_id BIGINT  NOT NULL,
    kind        INTEGER NOT NULL, -- 1: view, 2: result
    person      TEXT    NOT NULL, -- the name of the session, or # and the id of its token
    name        TEXT    NOT NULL,
    value       TEXT    NOT NULL,
    at          BIGINT  NOT NULL,
    PRIMARY KEY (merchant_id, kind, person, name)
);

-- +goose Down
DROP TABLE kept;
