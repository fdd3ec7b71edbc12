-- Renaming, suspending and limiting merchants; labels, makers and last addresses of
-- tokens.

-- +goose Up
ALTER TABLE merchants ADD COLUMN name_mark BIGINT NOT NULL DEFAULT 0; -- a random number of the newest renaming; 0: none
ALTER TABLE merchants ADD COLUMN suspended_at BIGINT; -- NULL: not suspended
ALTER TABLE merchants ADD COLUMN suspension_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE merchants ADD COLUMN rate_limit BIGINT NOT NULL DEFAULT 0; -- requests a second of each token; 0: the default
ALTER TABLE merchants ADD COLUMN rate_burst BIGINT NOT NULL DEFAULT 0;
CREATE INDEX merchants_by_name ON merchants (name COLLATE "C", id);
CREATE INDEX merchants_suspended ON merchants (id) WHERE suspended_at IS NOT NULL;

ALTER TABLE tokens ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN created_by BIGINT; -- id of the token that made it; NULL: a command did
ALTER TABLE tokens ADD COLUMN last_used_from TEXT; -- IP address
CREATE INDEX tokens_by_merchant ON tokens (merchant_id, id);

-- +goose Down
DROP INDEX tokens_by_merchant;
ALTER TABLE tokens DROP COLUMN last_used_from;
ALTER TABLE tokens DROP COLUMN created_by;
ALTER TABLE tokens DROP COLUMN label;

DROP INDEX merchants_suspended;
DROP INDEX merchants_by_name;
ALTER TABLE merchants DROP COLUMN rate_burst;
ALTER TABLE merchants DROP COLUMN rate_limit;
ALTER TABLE merchants DROP COLUMN suspension_reason;
ALTER TABLE merchants DROP COLUMN suspended_at;
ALTER TABLE merchants DROP COLUMN name_mark;
