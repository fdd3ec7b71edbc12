-- What is about valid tokens and open sessions reads no others. A token ends at
-- COALESCE(revoked_at, expires_at, 9223372036854775807).

-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX CONCURRENTLY IF NOT EXISTS tokens_by_end ON tokens (merchant_id, COALESCE(revoked_at, expires_at, 9223372036854775807));
CREATE INDEX CONCURRENTLY IF NOT EXISTS tokens_of_all_by_end ON tokens (COALESCE(revoked_at, expires_at, 9223372036854775807)); -- for operators
CREATE INDEX CONCURRENTLY IF NOT EXISTS tokens_of_sessions ON tokens (COALESCE(revoked_at, expires_at, 9223372036854775807)) WHERE hint = ''; -- to delete the oldest
CREATE INDEX CONCURRENTLY IF NOT EXISTS tokens_of_programs ON tokens (merchant_id, COALESCE(revoked_at, expires_at, 9223372036854775807)) WHERE hint <> '';
CREATE INDEX CONCURRENTLY IF NOT EXISTS tokens_of_links ON tokens (merchant_id, created_at) WHERE hint = '' AND created_by IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_of_tokens ON audit (subject_id, merchant_id) WHERE action = 'token.created'; -- names the deleted ones
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_of_links ON audit (merchant_id, at) WHERE action IN ('mail.added', 'mail.link', 'mail.not_sent'); -- e-mails to confirm an address
CREATE INDEX CONCURRENTLY IF NOT EXISTS login_links_by_merchant ON login_links (merchant_id, expires_at);
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS merchant_id BIGINT; -- of the token; NULL: 1.0.0 began the session
UPDATE sessions SET merchant_id = (SELECT merchant_id FROM tokens WHERE id = token_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_by_merchant ON sessions (merchant_id, last_used_at DESC, hash);
CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_by_time ON sessions (merchant_id, created_at DESC, hash);

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS tokens_by_end;
DROP INDEX CONCURRENTLY IF EXISTS tokens_of_all_by_end;
DROP INDEX CONCURRENTLY IF EXISTS tokens_of_sessions;
DROP INDEX CONCURRENTLY IF EXISTS tokens_of_programs;
DROP INDEX CONCURRENTLY IF EXISTS tokens_of_links;
DROP INDEX CONCURRENTLY IF EXISTS audit_of_tokens;
DROP INDEX CONCURRENTLY IF EXISTS audit_of_links;
DROP INDEX CONCURRENTLY IF EXISTS login_links_by_merchant;
DROP INDEX CONCURRENTLY IF EXISTS sessions_by_merchant;
DROP INDEX CONCURRENTLY IF EXISTS sessions_by_time;
ALTER TABLE sessions DROP COLUMN IF EXISTS merchant_id;
