-- 1.0 let tokens without orders:read (bit 1 of scopes) add webhooks and e-mail addresses,
-- whose receivers see orders. These end, until a token with the scope enables them.

-- +goose Up
UPDATE webhooks SET state = 3, state_set_at = webhooks.created_at, reason = 'the token that added it may not read orders', next_attempt_at = NULL
WHERE state IN (1, 4, 5) AND (merchant_id, id) IN (
    SELECT audit.merchant_id, subject_id FROM audit JOIN tokens ON tokens.id = token_id
    WHERE action IN ('webhook.added', 'mail.added') AND scopes & 1 = 0
);

-- +goose Down
SELECT 1;
