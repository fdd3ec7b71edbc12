package invoiceapi

import (
	"context"
	"encoding/base64"
	"io"
	"os"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// fileInDir is a staged file in a folder, made durable by closeDurably.
type fileInDir struct {
	order.StagedFile
	*os.File
}

func (f fileInDir) Write(p []byte) (int, error) { return f.File.Write(p) }

func (f fileInDir) Content() (*io.SectionReader, error) {
	size, err := f.File.Seek(0, io.SeekEnd)
	return io.NewSectionReader(f.File, 0, size), err
}

func (f fileInDir) Abort() {
	_ = f.File.Close()
	_ = os.Remove(f.File.Name())
}

// createIn creates a file.
func createIn(b *testing.B, dir string) *os.File {
	b.Helper()
	file, err := os.CreateTemp(dir, "")
	testenv.NoError(b, err)
	return file
}

// closeDurably is the last step of both benchmarks.
func closeDurably(b *testing.B, file *os.File) {
	b.Helper()
	testenv.NoError(b, file.Sync())
	testenv.NoError(b, file.Close())
	testenv.NoError(b, os.Remove(file.Name()))
}

// BenchmarkReadUpload reads an upload of the largest size from its body into a
// durable file.
func BenchmarkReadUpload(b *testing.B) {
	content := noise(order.MaxInvoiceSize)
	for name, body := range map[string]string{
		"plain": bodyOf(content, asIs), "lines": bodyOf(content, linesOf(76, `\r\n`)),
	} {
		b.Run(name+"/durable", func(b *testing.B) {
			dir := b.TempDir()
			stage := func(context.Context) (order.StagedFile, error) { return fileInDir{File: createIn(b, dir)}, nil }
			b.SetBytes(order.MaxInvoiceSize)
			b.ReportAllocs()
			for b.Loop() {
				_, content, err := ReadUpload(b.Context(), strings.NewReader(body), stage)
				testenv.NoError(b, err)
				closeDurably(b, content.Staged.(fileInDir).File)
			}
		})
	}
}

// BenchmarkBase64Decode is the yardstick: the same bytes decoded with one call, and
// written and made durable.
func BenchmarkBase64Decode(b *testing.B) {
	text := []byte(base64.StdEncoding.EncodeToString(noise(order.MaxInvoiceSize)))
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	b.Run("durable", func(b *testing.B) {
		dir := b.TempDir()
		b.SetBytes(order.MaxInvoiceSize)
		b.ReportAllocs()
		for b.Loop() {
			file := createIn(b, dir)
			n, err := base64.StdEncoding.Decode(decoded, text)
			testenv.NoError(b, err)
			if _, err := file.Write(decoded[:n]); err != nil {
				b.Fatal(err)
			}
			closeDurably(b, file)
		}
	})
}
