-- A block of order_words has the words of the orders of four weeks, so that a search reads
-- the newest ones first.

-- +goose Up
UPDATE order_words SET block = -MAX(created_at / 2419200, 1) WHERE block = 0;

-- +goose Down
UPDATE order_words SET block = 0 WHERE block < 0;
