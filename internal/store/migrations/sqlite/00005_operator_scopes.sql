-- Operators' tokens have scopes. Those that exist keep all rights: the sum of the
-- numbers of token.OperatorScopes at this version.

-- +goose Up
UPDATE tokens SET scopes = 1017 WHERE merchant_id = 0;

-- +goose Down
UPDATE tokens SET scopes = 0 WHERE merchant_id = 0;
