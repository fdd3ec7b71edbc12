-- A delivery to a webhook may have several events, up to batch.

-- +goose Up
ALTER TABLE webhooks ADD COLUMN batch INTEGER NOT NULL DEFAULT 1;
ALTER TABLE webhook_deliveries ADD COLUMN events INTEGER NOT NULL DEFAULT 1; -- how many; event_seq is the first
ALTER TABLE webhook_deliveries ADD COLUMN last_event INTEGER NOT NULL DEFAULT 0; -- 0: of 1.0, which sends one

-- +goose Down
ALTER TABLE webhooks DROP COLUMN batch;
ALTER TABLE webhook_deliveries DROP COLUMN events;
ALTER TABLE webhook_deliveries DROP COLUMN last_event;
