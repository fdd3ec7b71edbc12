-- Orders of which somebody wants an invoice, and that have no file: those without an entry,
-- and those among the orders with a reservation. 7 and 8 are rejected and canceled.

-- +goose Up
CREATE INDEX orders_without_invoice ON orders (merchant_id, created_at, legacy_id) WHERE has_invoice = 1 AND active_invoices = 0 AND state NOT IN (7, 8);
CREATE INDEX invoices_reserved ON invoices (merchant_id, legacy_id) WHERE status = 1;

-- +goose Down
DROP INDEX orders_without_invoice;
DROP INDEX invoices_reserved;
