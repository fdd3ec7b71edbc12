-- What a store's packing slips say of it, and where its tracking codes lead.

-- +goose Up
ALTER TABLE merchants ADD COLUMN slip_name TEXT NOT NULL DEFAULT ''; -- '': the name
ALTER TABLE merchants ADD COLUMN return_address TEXT NOT NULL DEFAULT '';
ALTER TABLE merchants ADD COLUMN tracking_link TEXT NOT NULL DEFAULT ''; -- an address with {code}

-- +goose Down
ALTER TABLE merchants DROP COLUMN slip_name;
ALTER TABLE merchants DROP COLUMN return_address;
ALTER TABLE merchants DROP COLUMN tracking_link;
