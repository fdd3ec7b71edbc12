-- A passkey is a token that has no text: its hash is that of the credential's id.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE tokens ADD COLUMN IF NOT EXISTS passkey TEXT; -- what its answers are checked with, as JSON; NULL: not a passkey
CREATE INDEX CONCURRENTLY IF NOT EXISTS tokens_of_passkeys ON tokens (merchant_id, COALESCE(revoked_at, expires_at, 9223372036854775807)) WHERE passkey IS NOT NULL;

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS tokens_of_passkeys;
ALTER TABLE tokens DROP COLUMN IF EXISTS passkey;
