-- The key that signs the links to invoice files, one row or none.

-- +goose Up
CREATE TABLE link_key (
    id         SMALLINT NOT NULL PRIMARY KEY CHECK (id = 1),
    secret     BYTEA    NOT NULL, -- 32 random bytes
    created_at BIGINT   NOT NULL
);

-- +goose Down
DROP TABLE link_key;
