-- Endpoints of webhooks, and what was delivered to them. An endpoint is a cursor on the
-- merchant's events: nothing is stored for an event that is yet to be delivered.

-- +goose Up
CREATE TABLE webhooks (
    merchant_id      BIGINT NOT NULL,
    id               BIGINT NOT NULL, -- unique in the whole service
    url              TEXT NOT NULL,
    description      TEXT NOT NULL,
    types            BIGINT NOT NULL, -- bits of event types; 0: all
    created_at       BIGINT NOT NULL,
    secret           TEXT NOT NULL, -- in plain text: it signs
    old_secret       TEXT NOT NULL, -- signs too until old_secret_until; empty: none
    old_secret_until BIGINT,
    state            SMALLINT NOT NULL, -- see webhook.State
    reason           TEXT NOT NULL, -- why the service disabled it
    state_set_at     BIGINT,
    acknowledged     BIGINT NOT NULL, -- cursor: number of the last event delivered or skipped
    failures         BIGINT NOT NULL, -- since the last success
    failing_since    BIGINT,
    next_attempt_at  BIGINT,
    deliveries       BIGINT NOT NULL DEFAULT 0, -- id of the newest row in webhook_deliveries
    lease_number     BIGINT NOT NULL DEFAULT 0, -- counts the leases
    lease_until      BIGINT, -- NULL: free
    PRIMARY KEY (merchant_id, id)
);
CREATE INDEX webhooks_by_id ON webhooks (id); -- for operators
INSERT INTO counters (name, last) VALUES ('webhook', 0);

CREATE TABLE webhook_deliveries (
    merchant_id BIGINT NOT NULL,
    webhook_id  BIGINT NOT NULL,
    id          BIGINT NOT NULL, -- 1, 2, 3, ... for each webhook
    at          BIGINT NOT NULL,
    message_id  TEXT NOT NULL,
    event_seq   BIGINT NOT NULL, -- 0: a test
    event_type  TEXT NOT NULL,
    status      BIGINT NOT NULL, -- of the response; 0: none
    error       TEXT NOT NULL, -- empty: acknowledged
    took_ms     BIGINT NOT NULL,
    response    TEXT NOT NULL, -- first bytes of the body
    PRIMARY KEY (merchant_id, webhook_id, id)
);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (merchant_id, event_seq); -- for operators, who see those of an order

-- +goose Down
DROP TABLE webhook_deliveries;
DROP TABLE webhooks;
DELETE FROM counters WHERE name = 'webhook';
