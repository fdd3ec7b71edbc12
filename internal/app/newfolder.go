package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"merchantorders/internal/config"
	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/filestore/s3"
	"merchantorders/internal/store/migrations"
)

// allowNew decides whether a command may make a new installation: in an empty
// folder only. A folder with files and without a database has lost it, for example
// because a volume is not mounted; an empty database would refuse every client.
// allowNew sets NoCreate if the command may not.
func (p *process) allowNew(schema *migrations.Options) (err error) {
	p.notNew, err = p.whyNotNew()
	schema.NoCreate = p.notNew != ""
	if err != nil || !schema.NoCreate {
		return err
	}
	return p.expectInstallation()
}

// whyNotNew returns why no new installation can be made; empty text if it can.
func (p *process) whyNotNew() (string, error) {
	if _, postgres := p.settings.PostgresURL(); !postgres {
		database := filepath.Base(p.settings.DatabasePath())
		reason, err := p.whatIsIn(p.settings.Data, func(name string) bool {
			// An empty folder may be the mount point of a volume for the files.
			return strings.HasPrefix(name, database) || strings.HasSuffix(name, ".lock") || emptyFolder(filepath.Join(p.settings.Data, name))
		})
		if reason != "" || err != nil {
			return reason, err
		}
	}
	if p.settings.FilesInData() {
		return "", nil
	}
	return p.whatIsIn(p.settings.FilesPath(), func(name string) bool { return name == filestore.StagingDir })
}

// expectEmptyBucket returns migrations.ErrNoSchema, and sets notNew, if a bucket
// contains files. It is asked only if the database is empty. bucket may be nil.
func (p *process) expectEmptyBucket(ctx context.Context, bucket *s3.Store) error {
	if bucket == nil {
		return nil
	}
	err := bucket.Each(ctx, func(string) error { return fs.ErrExist })
	if errors.Is(err, fs.ErrExist) {
		// Clients have chosen the names of files.
		p.notNew = fmt.Sprintf("the bucket %s contains files, but the database %s is missing or empty: name the database of these files, or restore a backup of it;"+
			" a new installation can be made with an empty bucket only", p.settings.StorageName(), p.settings.DatabaseName())
		return migrations.ErrNoSchema
	}
	return err
}

// openEmptyBucket is expectEmptyBucket for commands that need no bucket otherwise.
func (p *process) openEmptyBucket(ctx context.Context) error {
	bucket, err := p.openBucket(ctx)
	if err != nil {
		return err
	}
	return p.expectEmptyBucket(ctx, bucket)
}

// whatIsIn returns an error text that names what is in a folder, unless ignored;
// empty text if there is nothing.
func (p *process) whatIsIn(folder string, ignored func(name string) bool) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, entry := range entries {
		if name := entry.Name(); name != "lost+found" && !ignored(name) {
			return fmt.Sprintf("the folder %s contains %s, but the database %s is missing or empty: mount the volume of the database, or restore a backup;"+
				" a new installation can be made in an empty folder only", folder, name, p.settings.DatabaseName()), nil
		}
	}
	return "", nil
}

func emptyFolder(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// createDataFolder creates the data folder, accessible to its owner only, if it
// does not exist. It returns the full path of a new folder, so that the user
// notices a mistyped name, and "" if the folder exists.
func (p *process) createDataFolder() (string, error) {
	path, err := filepath.Abs(p.settings.Data)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err := disk.MkdirAll(path); err != nil {
		return "", fmt.Errorf("create the data folder: %w", err)
	}
	return path, nil
}

// expectInstallation returns an error if the settings name an SQLite file that does
// not exist, so that a mistyped data folder is not taken for an empty installation.
// Opening the database reports any other error.
func (p *process) expectInstallation() error {
	if _, postgres := p.settings.PostgresURL(); postgres {
		return nil
	}
	path := p.settings.DatabasePath()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	problem := p.notNew
	if problem == "" {
		problem = "must name an installation: there is no " + path + "; serve or merchant add makes a new one in an empty folder"
	}
	return usageError{config.Invalid(p.databaseFlag(), problem)}
}

// databaseFlag returns the flag that names the database.
func (p *process) databaseFlag() string {
	if p.settings.Database == "" {
		return p.flagPrefix + "data"
	}
	return p.flagPrefix + "database"
}
