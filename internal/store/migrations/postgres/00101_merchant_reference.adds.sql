-- The merchant's own number is looked up as it is.

-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_merchant_reference ON orders (merchant_id, merchant_reference, created_at, legacy_id) WHERE merchant_reference IS NOT NULL;

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS orders_merchant_reference;
