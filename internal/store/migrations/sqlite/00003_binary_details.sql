-- Details of orders are bytes now (see details.go). Rows written before keep
-- their text, which is read as it is: a column of SQLite holds either.

-- +goose Up
SELECT 1;

-- +goose Down
SELECT 1;
