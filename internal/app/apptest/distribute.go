package apptest

import (
	"bytes"
	"context"
	"errors"
	"os"

	"merchantorders/internal/app"
)

// Distribute runs the command distribute, which creates the tables of a database
// on a cluster and distributes them. Its error is the output of the command.
func Distribute(ctx context.Context, url string) error {
	folder, err := os.MkdirTemp("", "distribute")
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	args := []string{"--data", folder, "--database", url, "distribute"}
	if app.Run(ctx, args, new(bytes.Buffer), new(bytes.Buffer), &stderr, nil) != 0 {
		err = errors.New(stderr.String())
	}
	return errors.Join(err, os.RemoveAll(folder))
}
