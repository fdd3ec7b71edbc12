package invoiceapi

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"merchantorders/internal/order"
)

// fileDraft is a draft in a file, made durable by hand.
type fileDraft struct {
	order.StagedFile
	*os.File
}

func (d fileDraft) Write(p []byte) (int, error) { return d.File.Write(p) }
func (d fileDraft) Abort()                      {}

// openFile makes a file for one turn of a benchmark.
func openFile(b *testing.B, dir string) *os.File {
	b.Helper()
	file, err := os.CreateTemp(dir, "")
	if err != nil {
		b.Fatal(err)
	}
	return file
}

// closeDurably is what both benchmarks do with the file.
func closeDurably(b *testing.B, file *os.File) {
	b.Helper()
	if err := file.Sync(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	if err := os.Remove(file.Name()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkReadUpload reads an upload of the largest size from its body into a
// durable file. "discarded" leaves the file out: the CPU's part.
func BenchmarkReadUpload(b *testing.B) {
	content := noise(order.MaxInvoiceSize)
	for name, body := range map[string]string{
		"plain": bodyOf(content, asIs), "lines": bodyOf(content, linesOf(76, `\r\n`)),
	} {
		b.Run(name+"/durable", func(b *testing.B) {
			dir := b.TempDir()
			b.SetBytes(order.MaxInvoiceSize)
			b.ReportAllocs()
			for b.Loop() {
				file := openFile(b, dir)
				_, _, err := ReadUpload(strings.NewReader(body), func() (order.StagedFile, error) { return fileDraft{File: file}, nil })
				if err != nil {
					b.Fatal(err)
				}
				closeDurably(b, file)
			}
		})
		b.Run(name+"/discarded", func(b *testing.B) {
			b.SetBytes(order.MaxInvoiceSize)
			b.ReportAllocs()
			for b.Loop() {
				_, _, err := ReadUpload(strings.NewReader(body), func() (order.StagedFile, error) { return nowhere{}, nil })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// nowhere is a draft that keeps nothing.
type nowhere struct{ order.StagedFile }

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkBase64Decode is the yardstick: the same bytes decoded at one go, and
// written and made durable at one go.
func BenchmarkBase64Decode(b *testing.B) {
	text := []byte(base64.StdEncoding.EncodeToString(noise(order.MaxInvoiceSize)))
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	b.Run("durable", func(b *testing.B) {
		dir := b.TempDir()
		b.SetBytes(order.MaxInvoiceSize)
		b.ReportAllocs()
		for b.Loop() {
			file := openFile(b, dir)
			n, err := base64.StdEncoding.Decode(decoded, text)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := file.Write(decoded[:n]); err != nil {
				b.Fatal(err)
			}
			closeDurably(b, file)
		}
	})
	b.Run("discarded", func(b *testing.B) {
		b.SetBytes(order.MaxInvoiceSize)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := base64.StdEncoding.Decode(decoded, text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
