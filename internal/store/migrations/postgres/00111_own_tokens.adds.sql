-- What counts in a merchant's limits is what its own tokens have made.

-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX CONCURRENTLY IF NOT EXISTS tokens_of_merchants ON tokens (merchant_id, COALESCE(revoked_at, expires_at, 9223372036854775807)) WHERE hint <> '' AND created_by IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS tokens_of_programs;

-- +goose Down
CREATE INDEX CONCURRENTLY IF NOT EXISTS tokens_of_programs ON tokens (merchant_id, COALESCE(revoked_at, expires_at, 9223372036854775807)) WHERE hint <> '';
DROP INDEX CONCURRENTLY IF EXISTS tokens_of_merchants;
