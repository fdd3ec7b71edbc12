-- history names a sequence of a merchant's events: numbers may be given out again
-- in another one only. It is new wherever the merchant is inserted, so copies have
-- histories of their own.

-- +goose Up
ALTER TABLE merchants ADD COLUMN history TEXT NOT NULL
    DEFAULT substr(replace(CAST(gen_random_uuid() AS TEXT), '-', ''), 1, 16);

-- +goose Down
ALTER TABLE merchants DROP COLUMN history;
