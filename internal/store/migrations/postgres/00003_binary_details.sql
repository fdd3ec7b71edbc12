-- Details of orders are bytes now (see details.go). Rows written before keep
-- their content. The table is written anew meanwhile.

-- +goose Up
ALTER TABLE orders ALTER COLUMN details TYPE BYTEA USING convert_to(details, 'UTF8');

-- +goose Down
-- Fails where details have been written that no text can hold.
ALTER TABLE orders ALTER COLUMN details TYPE TEXT USING convert_from(details, 'UTF8');
