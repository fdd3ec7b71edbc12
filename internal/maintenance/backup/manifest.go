package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// What a backup consists of: the files of a data folder, and the manifest, which
// comes last.
const (
	databaseName = "orders.db"
	filesName    = "files"
	manifestName = "backup.json"
)

// backupFormat is the form of a backup that this version writes and reads.
const backupFormat = 1

// Manifest says what a backup should hold. What each invoice file should be like
// stands in the database.
type Manifest struct {
	Format   int       `json:"format"`
	MadeAt   time.Time `json:"madeAt"`
	MadeBy   string    `json:"madeBy"` // version of the program
	Database struct {
		Size   int64  `json:"size"` // bytes
		SHA256 string `json:"sha256"`
	} `json:"database"`
	Files int64 `json:"files"` // invoice files
}

// maxManifest is the largest manifest that is read, in bytes.
const maxManifest = 1 << 20

// readManifest reads a manifest.
func readManifest(r io.Reader) (Manifest, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxManifest))
	if err != nil {
		return Manifest{}, err
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return Manifest{}, errors.New(manifestName + " is not that of a backup")
	}
	if m.Format != backupFormat {
		return Manifest{}, fmt.Errorf("the backup has format %d, this version knows %d", m.Format, backupFormat)
	}
	return m, nil
}

// isArchive reports whether a path is that of a tar file by its name, and whether
// that is packed.
func isArchive(path string) (bool, bool) {
	packed := strings.HasSuffix(path, ".tar.gz") || strings.HasSuffix(path, ".tgz")
	return packed || strings.HasSuffix(path, ".tar"), packed
}
