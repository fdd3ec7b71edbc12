package apptest

import (
	"bytes"
	"context"
	"errors"
	"os"

	"merchantorders/internal/app/commands"
)

// SetUp runs the command migrate, which creates the tables of a database, and on a
// cluster the command distribute. Its error is the output of the command.
func SetUp(ctx context.Context, url string, cluster bool) error {
	folder, err := os.MkdirTemp("", "setup")
	if err != nil {
		return err
	}
	steps := []string{"migrate"}
	if cluster {
		steps = append(steps, "distribute")
	}
	for _, command := range steps {
		var stderr bytes.Buffer
		args := []string{"--data", folder, "--database", url, command}
		if commands.Run(ctx, args, new(bytes.Buffer), new(bytes.Buffer), &stderr, nil) != 0 {
			return errors.Join(errors.New(stderr.String()), os.RemoveAll(folder))
		}
	}
	return os.RemoveAll(folder)
}
