package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"

	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/ingest"
)

type importCommand struct {
	alwaysValid
	lineResults
	File     string `arg:"" name:"file" help:"File of order documents, one JSON object a line. - is standard input."`
	DryRun   bool   `name:"dry-run" help:"Change nothing: report what the import would do."`
	Rejected string `placeholder:"FILE" help:"File to which refused lines are written unchanged, so that you can correct them and import them again. It must not exist. Empty: none."`
}

func (c *importCommand) run(ctx context.Context, p *process) error {
	input, size, err := p.input(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = input.Close() }()
	// Orders are garbage soon: with the default of 100 a fifth of the processor time goes into
	// collecting it. This takes 40 MB more memory.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	return p.withDatabase(ctx, existing, func(b *app.Backend) error {
		if err := p.ExpectOutsideFiles(c.Rejected); err != nil {
			return err
		}
		rejected, err := createRejected(c.Rejected)
		if err != nil {
			return err
		}
		importBatch := b.Orders.Import
		if c.DryRun {
			importBatch = b.DB.NewImportCheck()
		}
		err = p.runLines(ctx, ingest.Documents(b.Orders.Prepare, importBatch, p.caller), input, size, rejected, lineWords{
			doing: "importing", rest: "import the rest", oneRefused: "line was refused", manyRefused: "lines were refused", results: c.JSON,
		})
		return errors.Join(err, rejected.close())
	})
}

// input opens a file, or standard input for "-", and returns its size in bytes;
// -1 if it is unknown.
func (p *process) input(file string) (io.ReadCloser, int64, error) {
	if file == "-" {
		return io.NopCloser(p.stdin), -1, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", file)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	if !info.Mode().IsRegular() {
		return f, -1, nil
	}
	return f, info.Size(), nil
}

// rejectedLines is the file of refused lines; nil: none.
type rejectedLines struct {
	file    *os.File
	lines   int
	tooLong int   // lines that are not in the file
	err     error // of the first write that failed
}

// createRejected creates the file of refused lines, readable by its owner only,
// because orders are personal data. It returns nil if path is empty.
func createRejected(path string) (*rejectedLines, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, app.UsageError{Err: config.Invalid("rejected", path+" exists already; remove it, or choose another name")}
	}
	if err != nil {
		return nil, app.UsageError{Err: config.Invalid("rejected", app.OneLine(err.Error()))}
	}
	return &rejectedLines{file: file}, nil
}

// add writes a refused line at once, so that it is there if the import is killed. text
// is nil for a line that is too long to be kept. close returns an error of the write.
func (r *rejectedLines) add(text []byte) {
	switch {
	case r == nil:
	case text == nil:
		r.tooLong++
	default:
		r.lines++
		if _, err := r.file.Write(append(slices.Clip(text), '\n')); r.err == nil {
			r.err = err
		}
	}
}

// close completes the file. It removes a file without lines.
func (r *rejectedLines) close() error {
	if r == nil {
		return nil
	}
	err := errors.Join(r.err, r.file.Close())
	if r.lines == 0 {
		err = errors.Join(err, os.Remove(r.file.Name()))
	}
	if r.tooLong > 0 {
		long := count(int64(r.tooLong), "line is", "lines are")
		err = errors.Join(err, fmt.Errorf("%s longer than 4 MiB and not in the file of refused lines", long))
	}
	return err
}
