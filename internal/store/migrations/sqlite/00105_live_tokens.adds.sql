-- What is about valid tokens and open sessions reads no others. A token ends at
-- COALESCE(revoked_at, expires_at, 9223372036854775807).

-- +goose Up
CREATE INDEX tokens_by_end ON tokens (merchant_id, COALESCE(revoked_at, expires_at, 9223372036854775807));
CREATE INDEX tokens_of_all_by_end ON tokens (COALESCE(revoked_at, expires_at, 9223372036854775807)); -- for operators
CREATE INDEX tokens_of_sessions ON tokens (COALESCE(revoked_at, expires_at, 9223372036854775807)) WHERE hint = ''; -- to delete the oldest
CREATE INDEX tokens_of_programs ON tokens (merchant_id, COALESCE(revoked_at, expires_at, 9223372036854775807)) WHERE hint <> '';
CREATE INDEX tokens_of_links ON tokens (merchant_id, created_at) WHERE hint = '' AND created_by IS NOT NULL;
CREATE INDEX audit_of_tokens ON audit (subject_id, merchant_id) WHERE action = 'token.created'; -- names the deleted ones
CREATE INDEX audit_of_links ON audit (merchant_id, at) WHERE action IN ('mail.added', 'mail.link', 'mail.not_sent'); -- e-mails to confirm an address
CREATE INDEX login_links_by_merchant ON login_links (merchant_id, expires_at);
ALTER TABLE sessions ADD COLUMN merchant_id INTEGER; -- of the token; NULL: 1.0.0 began the session
UPDATE sessions SET merchant_id = (SELECT merchant_id FROM tokens WHERE id = token_id);
CREATE INDEX sessions_by_merchant ON sessions (merchant_id, last_used_at DESC, hash);
CREATE INDEX sessions_by_time ON sessions (merchant_id, created_at DESC, hash);

-- +goose Down
DROP INDEX tokens_by_end;
DROP INDEX tokens_of_all_by_end;
DROP INDEX tokens_of_sessions;
DROP INDEX tokens_of_programs;
DROP INDEX tokens_of_links;
DROP INDEX audit_of_tokens;
DROP INDEX audit_of_links;
DROP INDEX login_links_by_merchant;
DROP INDEX sessions_by_merchant;
DROP INDEX sessions_by_time;
ALTER TABLE sessions DROP COLUMN merchant_id;
