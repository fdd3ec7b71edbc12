-- A digest that is sent again covers the same events.

-- +goose Up
ALTER TABLE webhooks ADD COLUMN digest_end BIGINT NOT NULL DEFAULT 0; -- 0: none

-- +goose Down
ALTER TABLE webhooks DROP COLUMN digest_end;
