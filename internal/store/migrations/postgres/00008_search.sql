-- What operators search: the words of each order, and indexes over the orders of all
-- merchants. An order that a version without this step has written lacks its words and
-- its deadline; its column indexed is 0 until a background job of serve adds them.

-- +goose Up
-- A block is a small part of the table, so that writing the words of new orders changes
-- few pages of a file. A background job moves the words of blocks into block 0.
CREATE TABLE order_words (
    block       BIGINT NOT NULL, -- always 0 where that gains nothing
    word        TEXT   NOT NULL COLLATE "C", -- see package orderwords
    created_at  BIGINT NOT NULL, -- of the order
    legacy_id   BIGINT NOT NULL,
    merchant_id BIGINT NOT NULL,
    PRIMARY KEY (block, word, created_at, legacy_id, merchant_id)
);

ALTER TABLE orders ADD COLUMN expires_at BIGINT; -- NULL: none, or not indexed yet
ALTER TABLE orders ADD COLUMN indexed SMALLINT NOT NULL DEFAULT 0; -- 1: the words and expires_at are written
CREATE INDEX orders_to_index ON orders (legacy_id, merchant_id) WHERE indexed = 0;

-- The orders of each state, merged, are those of any state.
CREATE INDEX IF NOT EXISTS orders_of_all_by_state ON orders (state, created_at, legacy_id, merchant_id);
CREATE INDEX orders_of_all_by_update ON orders (updated_at, legacy_id, merchant_id) WHERE updated_at IS NOT NULL;
-- Registered orders, whose merchant has yet to answer.
CREATE INDEX orders_open_deadlines ON orders (state, expires_at, legacy_id, merchant_id) WHERE state = 1 AND expires_at IS NOT NULL;
CREATE INDEX order_days_unanswered ON order_days (merchant_id, day) WHERE state = 1 AND orders > 0;

-- +goose Down
DROP INDEX order_days_unanswered;
DROP INDEX orders_open_deadlines;
DROP INDEX orders_of_all_by_update;
DROP INDEX orders_of_all_by_state;
DROP INDEX orders_to_index;
ALTER TABLE orders DROP COLUMN indexed;
ALTER TABLE orders DROP COLUMN expires_at;
DROP TABLE order_words;
