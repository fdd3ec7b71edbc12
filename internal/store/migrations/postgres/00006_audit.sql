-- The audit log: one row for each change, never updated or deleted. Each merchant has
-- a chain of its own, and merchant 0 has that of what belongs to no merchant. The
-- number of its last entry is in merchants.audit_seq or in counters, and that row is
-- locked while an entry is appended. No column holds personal data of customers.

-- +goose Up
ALTER TABLE merchants ADD COLUMN audit_seq BIGINT NOT NULL DEFAULT 0; -- number of the newest entry
INSERT INTO counters (name, last) VALUES ('audit', 0);

CREATE TABLE audit (
    merchant_id BIGINT NOT NULL, -- 0: of no merchant
    seq         BIGINT NOT NULL, -- 1, 2, 3, ... for each merchant, in commit order
    at          BIGINT NOT NULL,
    action      TEXT    NOT NULL, -- such as order.created
    actor       SMALLINT NOT NULL,
    token_id    BIGINT NOT NULL, -- 0: a command, or the service itself
    request_id  TEXT    NOT NULL,
    address     TEXT    NOT NULL, -- IP address of the client
    legacy_id   BIGINT NOT NULL, -- of the order; 0: none
    reference   TEXT    NOT NULL, -- of the order
    subject_id  BIGINT NOT NULL, -- of the file, token or webhook; 0: none
    detail      TEXT    NOT NULL, -- key=value of state and field names, separated by spaces
    hash        BYTEA    NOT NULL, -- SHA-256 of the previous hash and this entry, see order.AuditEntry
    PRIMARY KEY (merchant_id, seq)
);
CREATE INDEX audit_by_time ON audit (at, merchant_id, seq);
CREATE INDEX audit_by_order ON audit (merchant_id, legacy_id, seq) WHERE legacy_id <> 0;

-- +goose Down
DROP TABLE audit;
DELETE FROM counters WHERE name = 'audit';
ALTER TABLE merchants DROP COLUMN audit_seq;
