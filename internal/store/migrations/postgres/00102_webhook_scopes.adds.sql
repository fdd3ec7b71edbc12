-- 1.0 let tokens without orders:read (bit 1 of scopes) add webhooks and e-mail addresses,
-- whose receivers see orders. These end, until a token with the scope enables them.

-- +goose Up
WITH added AS MATERIALIZED ( -- a cluster does not join tables of different columns in an UPDATE
    SELECT audit.merchant_id, subject_id FROM audit JOIN tokens ON tokens.id = token_id
    WHERE action IN ('webhook.added', 'mail.added') AND scopes & 1 = 0
)
UPDATE webhooks SET state = 3, state_set_at = webhooks.created_at, reason = 'the token that added it may not read orders', next_attempt_at = NULL
FROM added WHERE state IN (1, 4, 5) AND webhooks.merchant_id = added.merchant_id AND id = added.subject_id;

-- +goose Down
SELECT 1;
