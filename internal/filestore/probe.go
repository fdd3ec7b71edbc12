package filestore

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"merchantorders/internal/order"
)

// probeFolder is below the folder of invoice files: what a disk, a mount or a policy does there
// may differ from the folders around it. No order has such a reference.
const probeFolder = order.InvoiceFolder + "/~probe/"

// ProbeContent is what a probe stores. It is larger than what fits beside the entry of a file.
var ProbeContent = bytes.Repeat([]byte("This file tests that invoice files can be stored.\n"), 200)

// Probe stores a file as an upload does, reads it back, compares it and removes it. The
// errors are for the operator.
func Probe(ctx context.Context, files order.Files) (err error) {
	staged, err := files.Stage(ctx)
	if err != nil {
		return err
	}
	defer staged.Abort()
	if _, err := staged.Write(ProbeContent); err != nil {
		return err
	}
	path := ProbePath()
	if err := staged.Commit(ctx, path); err != nil {
		return fmt.Errorf("store a file among the invoice files: %w", err)
	}
	defer func() { err = errors.Join(err, files.Remove(ctx, path)) }()
	file, err := files.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	read, err := io.ReadAll(file)
	if err == nil && !bytes.Equal(read, ProbeContent) {
		err = fmt.Errorf("a file of %d bytes was read back with other content, of %d bytes", len(ProbeContent), len(read))
	}
	return err
}

// ProbePath returns a path for a file that tests a storage.
func ProbePath() string { return probeFolder + rand.Text() }

// IsProbe reports whether a path is that of a probe, perhaps of one that was killed.
func IsProbe(path string) bool { return strings.HasPrefix(path, probeFolder) }
