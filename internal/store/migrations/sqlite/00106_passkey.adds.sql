-- A passkey is a token that has no text: its hash is that of the credential's id.

-- +goose Up
ALTER TABLE tokens ADD COLUMN passkey TEXT; -- what its answers are checked with, as JSON; NULL: not a passkey
CREATE INDEX tokens_of_passkeys ON tokens (merchant_id, COALESCE(revoked_at, expires_at, 9223372036854775807)) WHERE passkey IS NOT NULL;

-- +goose Down
DROP INDEX tokens_of_passkeys;
ALTER TABLE tokens DROP COLUMN passkey;
