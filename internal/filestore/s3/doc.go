// Package s3 stores invoice files in a bucket of an S3 server.
package s3
