-- Sign-ins of people at the console. Cookies and links are not stored, only the
-- SHA-256 of their random part. A session acts as its token. It is no data of a
-- merchant: it is not copied to another database, where people sign in again.

-- +goose Up
CREATE TABLE sessions (
    hash         BYTEA    NOT NULL PRIMARY KEY,
    token_id     BIGINT   NOT NULL,
    owns_token   SMALLINT NOT NULL, -- 0 or 1: a login link made the token for this session
    created_at   BIGINT   NOT NULL,
    last_used_at BIGINT   NOT NULL -- accurate to a few minutes
);
-- To delete those that have expired.
CREATE INDEX sessions_by_use ON sessions (last_used_at);

CREATE TABLE login_links (
    hash        BYTEA    NOT NULL PRIMARY KEY,
    merchant_id BIGINT   NOT NULL,
    scopes      SMALLINT NOT NULL, -- of the token that the session gets
    expires_at  BIGINT   NOT NULL
);
CREATE INDEX login_links_by_expiry ON login_links (expires_at);

-- +goose Down
DROP TABLE login_links;
DROP TABLE sessions;
