package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Names in a backup. They are those of a data folder, besides the manifest.
const (
	databaseName = "orders.db"
	filesName    = "files"
	manifestName = "backup.json"
)

// format is the version of the layout that this package writes and reads.
const format = 1

// Manifest describes the contents of a backup. The size and hash of each invoice
// file are in the database.
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

// maxManifestSize limits how much of a manifest is read, in bytes.
const maxManifestSize = 1 << 20

// readManifest reads a manifest.
func readManifest(r io.Reader) (Manifest, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxManifestSize))
	if err != nil {
		return Manifest{}, err
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return Manifest{}, errors.New(manifestName + " is not the manifest of a backup")
	}
	if m.Format != format {
		return Manifest{}, fmt.Errorf("the backup has format %d, this version can read format %d", m.Format, format)
	}
	return m, nil
}
