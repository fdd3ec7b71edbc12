-- What counts in a merchant's limits is what its own tokens have made.

-- +goose Up
CREATE INDEX tokens_of_merchants ON tokens (merchant_id, COALESCE(revoked_at, expires_at, 9223372036854775807)) WHERE hint <> '' AND created_by IS NOT NULL;
DROP INDEX tokens_of_programs;

-- +goose Down
CREATE INDEX tokens_of_programs ON tokens (merchant_id, COALESCE(revoked_at, expires_at, 9223372036854775807)) WHERE hint <> '';
DROP INDEX tokens_of_merchants;
