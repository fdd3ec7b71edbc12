package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"merchantorders/internal/app"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	os.Exit(s3test.Main(func() int { return pgtest.Run(m.Run, distribute) }))
}

// distribute makes and spreads the tables of a database on a cluster, as an
// operator does.
func distribute(ctx context.Context, url string) error {
	folder, err := os.MkdirTemp("", "distribute")
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	args := []string{"--data", folder, "--database", url, "distribute"}
	if app.Run(ctx, args, new(bytes.Buffer), new(bytes.Buffer), &stderr, apptest.NoEnv) != 0 {
		err = errors.New(stderr.String())
	}
	return errors.Join(err, os.RemoveAll(folder))
}
