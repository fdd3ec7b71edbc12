package backup

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// eachInFolder calls take for every file of a backup that is a folder.
func eachInFolder(path string, take func(name string, content io.Reader) error) error {
	root, err := os.OpenRoot(path) // no link leads out of it
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return bare(err)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		file, err := root.Open(name)
		if err != nil {
			return bare(err)
		}
		return errors.Join(take(name, file), file.Close())
	})
}

// bare takes the path out of an error: clients have chosen the file names.
func bare(err error) error {
	var onPath *fs.PathError
	if errors.As(err, &onPath) {
		err = onPath.Err
	}
	return fmt.Errorf("read a file of the backup: %w", err)
}

// eachInArchive calls take for every file of a backup that is a tar file, packed
// or not, whatever its name.
func eachInArchive(path string, take func(name string, content io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	packed, err := isPacked(file)
	if err != nil {
		return err
	}
	if !packed {
		return eachInTar(file, take)
	}
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return errors.Join(eachInTar(unpacked, take), unpacked.Close())
}

// isPacked reports whether a file begins as gzip's do, and goes back to its
// beginning.
func isPacked(file *os.File) (bool, error) {
	var magic [2]byte
	if _, err := file.ReadAt(magic[:], 0); err != nil && err != io.EOF {
		return false, err
	}
	return magic == [2]byte{0x1f, 0x8b}, nil
}

// eachInTar calls take for every file of a tar file.
func eachInTar(packed io.Reader, take func(name string, content io.Reader) error) error {
	content := &damage{packed, nil}
	for archive := tar.NewReader(content); ; {
		header, err := archive.Next()
		if err == io.EOF {
			// The checksum of a packed file is compared at its very end.
			_, err = io.Copy(io.Discard, content)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if header == nil {
			return nil
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := take(header.Name, archive); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) || content.err != nil {
				err = fmt.Errorf("%w: %w", ErrDamaged, err)
			}
			return err
		}
	}
}

// damage notes why a file could not be read to its end.
type damage struct {
	io.Reader
	err error
}

func (d *damage) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if err != nil && err != io.EOF {
		d.err = err
	}
	return n, err
}
