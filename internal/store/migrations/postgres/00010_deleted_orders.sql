-- What is left of an order that is older than the retention time: enough for its events
-- and its order keys.

-- +goose Up
CREATE TABLE deleted_orders (
    merchant_id BIGINT NOT NULL,
    legacy_id   BIGINT NOT NULL,
    reference   TEXT   NOT NULL,
    created_at  BIGINT NOT NULL, -- of the order
    deleted_at  BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, legacy_id),
    UNIQUE (merchant_id, reference)
);

-- +goose Down
DROP TABLE deleted_orders;
