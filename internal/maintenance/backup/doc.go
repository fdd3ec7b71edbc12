// Package backup makes a backup of an embedded installation, which may be in
// use, and restores it. A backup is a snapshot of the data folder: a folder or a
// tar file with the database, the invoice files and a manifest.
package backup
