// Package lockstep sends random sequences of requests to two services at once, one on
// SQLite with files on disk, one on PostgreSQL with S3. Whatever a client, a receiver of
// webhooks or an auditor sees of the two must be equal.
//
// Both services run in this process, with one clock that only the test moves. Random
// values of the services (tokens, keys, entity tags) are compared by when they occur again,
// not by their text: see names.
package lockstep
