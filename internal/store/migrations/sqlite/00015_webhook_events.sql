-- The webhook of an event without an order, whose legacy_id is 0. NULL: the event is of
-- an order.

-- +goose Up
ALTER TABLE events ADD COLUMN webhook_id INTEGER;

-- +goose Down
ALTER TABLE events DROP COLUMN webhook_id;
