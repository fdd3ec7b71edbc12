-- The merchant's own number is looked up as it is.

-- +goose Up
CREATE INDEX orders_merchant_reference ON orders (merchant_id, merchant_reference, created_at, legacy_id) WHERE merchant_reference IS NOT NULL;

-- +goose Down
DROP INDEX orders_merchant_reference;
