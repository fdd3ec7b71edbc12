-- Sign-ins of people at the console. Cookies and links are not stored, only the
-- SHA-256 of their random part. A session acts as its token. It is no data of a
-- merchant: it is not copied to another database, where people sign in again.

-- +goose Up
CREATE TABLE sessions (
    hash         BLOB    NOT NULL PRIMARY KEY,
    token_id     INTEGER NOT NULL,
    owns_token   INTEGER NOT NULL, -- 0 or 1: a login link made the token for this session
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL -- accurate to a few minutes
) WITHOUT ROWID;
-- To delete those that have expired.
CREATE INDEX sessions_by_use ON sessions (last_used_at);

CREATE TABLE login_links (
    hash        BLOB    NOT NULL PRIMARY KEY,
    merchant_id INTEGER NOT NULL,
    scopes      INTEGER NOT NULL, -- of the token that the session gets
    expires_at  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX login_links_by_expiry ON login_links (expires_at);

-- +goose Down
DROP TABLE login_links;
DROP TABLE sessions;
