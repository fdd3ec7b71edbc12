package app_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"merchantorders/internal/app"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	os.Exit(s3test.Main(func() int {
		return pgtest.Run(func() int { return apptest.Main(m) }, distribute)
	}))
}

// distribute makes and spreads the tables of a database on a cluster.
func distribute(ctx context.Context, url string) error {
	var stderr bytes.Buffer
	if app.Run(ctx, []string{"distribute", "--database", url}, strings.NewReader(""), io.Discard, &stderr, apptest.NoEnv) != 0 {
		return errors.New(stderr.String())
	}
	return nil
}
