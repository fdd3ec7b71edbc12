package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/maintenance"
)

// unpacking is one backup that is being unpacked.
type unpacking struct {
	database string // path to unpack the database to
	files    *disk.Store

	manifest       Manifest // zero: not found
	databaseSHA256 string   // empty: the database was not found, or is not complete
	fileCount      int64    // invoice files
}

// unpack unpacks the backup at a place. It ignores files that do not belong to a
// backup. The error is ErrDamaged if the backup cannot be read to its end.
func (u *unpacking) unpack(ctx context.Context, from Place) error {
	return from.each(ctx, func(name string, content io.Reader) (err error) {
		file, isFile := strings.CutPrefix(name, filesName+"/")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case strings.HasPrefix(file, filestore.StagingDir+"/"):
			// A power cut can bring back the names that staged files had in a folder.
		case isFile:
			if err = storeFile(ctx, u.files, file, content); err == nil {
				u.fileCount++
			}
		case name == databaseName:
			hash := sha256.New()
			if err = createFile(u.database, io.TeeReader(content, hash)); err == nil {
				u.databaseSHA256 = hex.EncodeToString(hash.Sum(nil))
			}
		case name == manifestName:
			u.manifest, err = readManifest(content)
		}
		return err
	})
}

// verify compares what was unpacked with the manifest. readErr is the error of
// unpack. If partial is set, what is missing is a finding, but for the database.
func (u *unpacking) verify(readErr error, partial bool, reporter *maintenance.Reporter) error {
	const cure = "use another backup if there is one"
	var problem error
	switch {
	case u.databaseSHA256 == "" && readErr != nil:
		return fmt.Errorf("%w; it ends before its database is complete", readErr)
	case u.manifest.Format == 0 && readErr == nil:
		problem = fmt.Errorf("%w or is not a backup: it has no %s", ErrDamaged, manifestName)
	case u.databaseSHA256 == "":
		return fmt.Errorf("%w: it has no %s", ErrDamaged, databaseName)
	case readErr != nil:
		problem = readErr
	case u.manifest.Database.SHA256 != u.databaseSHA256:
		problem = fmt.Errorf("%w: its %s was changed", ErrDamaged, databaseName)
	}
	if problem != nil && (!partial || u.databaseSHA256 == "") {
		return problem
	}
	if u.manifest.Format == 0 {
		problem = fmt.Errorf("%w; %d invoice files could be read", problem, u.fileCount)
	}
	if problem == nil && u.fileCount != u.manifest.Files {
		problem = fmt.Errorf("the backup contains %d invoice files, but its manifest says %d", u.fileCount, u.manifest.Files)
	}
	if problem != nil {
		reporter.Find(maintenance.Finding{Problem: problem.Error(), Cure: cure})
	}
	return nil
}

// maxManifestSize limits how much of a manifest is read, in bytes. It has room for half a
// million removed files.
const maxManifestSize = 64 << 20

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
