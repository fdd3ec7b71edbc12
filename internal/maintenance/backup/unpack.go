package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"merchantorders/internal/filestore/disk"
)

// unpacker unpacks a backup.
type unpacker struct {
	database string // path
	files    *disk.Store

	// What the backup contained so far.
	manifest       *Manifest
	databaseSize   int64
	databaseSHA256 string
	fileCount      int64 // invoice files
}

// unpack unpacks the backup at a path.
func (u *unpacker) unpack(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	each := eachInArchive
	if info.IsDir() {
		each = eachInFolder
	}
	err = each(path, func(name string, content io.Reader) error { return u.add(ctx, name, content) })
	if err != nil {
		return err
	}
	return u.verify()
}

// add unpacks one file. It ignores files that do not belong to a backup.
func (u *unpacker) add(ctx context.Context, name string, content io.Reader) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if path, ok := strings.CutPrefix(name, filesName+"/"); ok {
		u.fileCount++
		return storeFile(ctx, u.files, path, content)
	}
	switch name {
	case databaseName:
		hash := sha256.New()
		if err := createFile(u.database, io.TeeReader(content, hash)); err != nil {
			return err
		}
		u.databaseSHA256 = hex.EncodeToString(hash.Sum(nil))
		info, err := os.Stat(u.database)
		if err == nil {
			u.databaseSize = info.Size()
		}
		return err
	case manifestName:
		manifest, err := readManifest(content)
		u.manifest = &manifest
		return err
	}
	return nil
}

// verify returns an error if the backup lacked a part or the database has
// changed.
func (u *unpacker) verify() error {
	switch m := u.manifest; {
	case m == nil:
		return fmt.Errorf("%w or is not a backup: it has no %s", ErrDamaged, manifestName)
	case u.databaseSHA256 == "":
		return fmt.Errorf("%w: it has no %s", ErrDamaged, databaseName)
	case m.Database.SHA256 != u.databaseSHA256 || m.Database.Size != u.databaseSize:
		return fmt.Errorf("%w: its %s was changed", ErrDamaged, databaseName)
	}
	return nil
}
