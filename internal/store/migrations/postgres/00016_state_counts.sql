-- How many orders of a merchant are in each state, so that numbers of all merchants read
-- one row for each. The counts are valid if counted_mark is data_mark. A version without
-- this step changes data_mark only; then a background job of serve counts again.

-- +goose Up
ALTER TABLE merchants ADD COLUMN counted_mark BIGINT NOT NULL DEFAULT 0;
ALTER TABLE merchants ADD COLUMN in_state_1 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE merchants ADD COLUMN in_state_2 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE merchants ADD COLUMN in_state_3 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE merchants ADD COLUMN in_state_4 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE merchants ADD COLUMN in_state_5 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE merchants ADD COLUMN in_state_6 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE merchants ADD COLUMN in_state_7 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE merchants ADD COLUMN in_state_8 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE merchants ADD COLUMN in_state_9 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE merchants ADD COLUMN in_state_10 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE merchants ADD COLUMN in_state_11 BIGINT NOT NULL DEFAULT 0;
DROP INDEX order_days_unanswered;

-- +goose Down
CREATE INDEX order_days_unanswered ON order_days (merchant_id, day) WHERE state = 1 AND orders > 0;
ALTER TABLE merchants DROP COLUMN in_state_11;
ALTER TABLE merchants DROP COLUMN in_state_10;
ALTER TABLE merchants DROP COLUMN in_state_9;
ALTER TABLE merchants DROP COLUMN in_state_8;
ALTER TABLE merchants DROP COLUMN in_state_7;
ALTER TABLE merchants DROP COLUMN in_state_6;
ALTER TABLE merchants DROP COLUMN in_state_5;
ALTER TABLE merchants DROP COLUMN in_state_4;
ALTER TABLE merchants DROP COLUMN in_state_3;
ALTER TABLE merchants DROP COLUMN in_state_2;
ALTER TABLE merchants DROP COLUMN in_state_1;
ALTER TABLE merchants DROP COLUMN counted_mark;
