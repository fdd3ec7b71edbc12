-- What a merchant says of a document in a file, and by which its order is found.

-- +goose Up
ALTER TABLE invoices ADD COLUMN kind TEXT NOT NULL DEFAULT ''; -- empty: not given, as in the next three
ALTER TABLE invoices ADD COLUMN number TEXT NOT NULL DEFAULT '';
ALTER TABLE invoices ADD COLUMN mark TEXT NOT NULL DEFAULT ''; -- of the tax authority
ALTER TABLE invoices ADD COLUMN link TEXT NOT NULL DEFAULT '';
ALTER TABLE orders ADD COLUMN invoice_numbers TEXT NOT NULL DEFAULT ''; -- numbers and marks of the active invoices, one a line

-- +goose Down
ALTER TABLE invoices DROP COLUMN kind;
ALTER TABLE invoices DROP COLUMN number;
ALTER TABLE invoices DROP COLUMN mark;
ALTER TABLE invoices DROP COLUMN link;
ALTER TABLE orders DROP COLUMN invoice_numbers;
