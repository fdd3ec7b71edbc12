package clients

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"maps"
	"slices"
	"time"
)

// made is the time of all files in archives: the first that a zip file can have.
var made = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

func sorted(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }

// zipped returns files as a zip archive, below a folder.
func zipped(files map[string][]byte, folder string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range sorted(files) {
		header := &zip.FileHeader{Name: folder + name, Method: zip.Deflate, Modified: made}
		header.SetMode(0o644)
		file, _ := w.CreateHeader(header) // a buffer takes every byte
		_, _ = file.Write(files[name])
	}
	_ = w.Close()
	return out.Bytes()
}

// tarred returns files as a compressed tar archive, below a folder.
func tarred(files map[string][]byte, folder string) []byte {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	for _, name := range sorted(files) {
		_ = w.WriteHeader(&tar.Header{Name: folder + name, Mode: 0o644, Size: int64(len(files[name])), ModTime: made, Format: tar.FormatUSTAR})
		_, _ = w.Write(files[name]) // a buffer takes every byte
	}
	_, _ = w.Close(), compressed.Close()
	return out.Bytes()
}
