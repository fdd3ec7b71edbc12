package apptest

import (
	"bytes"
	"context"
	"errors"
	"os"

	"merchantorders/internal/app"
)

// Distribute runs the commands migrate and distribute, which create the tables of a
// database on a cluster and distribute them. Its error is the output of the command.
func Distribute(ctx context.Context, url string) error {
	folder, err := os.MkdirTemp("", "distribute")
	if err != nil {
		return err
	}
	for _, command := range []string{"migrate", "distribute"} {
		var stderr bytes.Buffer
		args := []string{"--data", folder, "--database", url, command}
		if app.Run(ctx, args, new(bytes.Buffer), new(bytes.Buffer), &stderr, nil) != 0 {
			return errors.Join(errors.New(stderr.String()), os.RemoveAll(folder))
		}
	}
	return os.RemoveAll(folder)
}
