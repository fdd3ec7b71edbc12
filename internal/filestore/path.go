// Package filestore has what the storages of invoice files share: which paths
// are valid, and errors that do not reveal a path. The storages themselves are
// disk and s3; both implement order.Files, and both pass filestoretest.
//
// A storage does not know what an invoice is or who owns it. A stored file is
// bytes under a path, written once and never changed. Clients choose the file
// names and errors are logged, so no error contains a path.
package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// StagingDir is the directory that holds staged files. No stored file has a
// path below it.
const StagingDir = "tmp"

// maxElement is the longest path element, in bytes, that file systems accept.
const maxElement = 255

// ValidPath reports whether a stored file can have this path: relative, with at
// least one slash, without "." and ".." elements and without elements of more
// than 255 bytes, and not below StagingDir.
func ValidPath(path string) bool {
	for element := range strings.SplitSeq(path, "/") {
		if len(element) > maxElement {
			return false
		}
	}
	top, _, nested := strings.Cut(path, "/")
	return nested && top != StagingDir && fs.ValidPath(path)
}

// Error adds the action that failed to err and removes the path from an error of
// package os.
func Error(action string, err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		err = pathErr.Err
	case errors.As(err, &linkErr):
		err = linkErr.Err
	}
	return fmt.Errorf("%s: %w", action, err)
}
