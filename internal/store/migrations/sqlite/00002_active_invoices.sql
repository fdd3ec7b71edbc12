-- The active invoices of an order, however many of its files were deleted.

-- +goose Up
CREATE INDEX invoices_active ON invoices (merchant_id, legacy_id, id) WHERE status = 2;

-- +goose Down
DROP INDEX invoices_active;
