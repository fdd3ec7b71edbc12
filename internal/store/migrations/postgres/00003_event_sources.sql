-- Which token and which request made a change. NULL: a command did, or a version
-- of the service that did not record it.

-- +goose Up
ALTER TABLE events ADD COLUMN token_id BIGINT;
ALTER TABLE events ADD COLUMN request_id TEXT;

-- +goose Down
ALTER TABLE events DROP COLUMN request_id;
ALTER TABLE events DROP COLUMN token_id;
