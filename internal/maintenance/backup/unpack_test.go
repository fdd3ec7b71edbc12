package backup

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/testenv"
)

// entry is a file of an archive.
type entry struct {
	name, content string
	kind          byte // 0: a regular file
	size          int64
}

// tarOf returns an archive. A size other than 0 makes a header wrong.
func tarOf(entries ...entry) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		kind, size := e.kind, int64(len(e.content))
		if kind == 0 {
			kind = tar.TypeReg
		}
		if e.size != 0 {
			size = e.size
		}
		_ = w.WriteHeader(&tar.Header{Name: e.name, Typeflag: kind, Size: size, Mode: 0o600, Linkname: "/etc/passwd"})
		_, _ = w.Write([]byte(e.content))
	}
	_ = w.Close()
	return b.Bytes()
}

// unpackBytes unpacks an archive into a folder.
func unpackBytes(t *testing.T, folder string, archive []byte) error {
	files := testenv.Of(disk.Open(filepath.Join(folder, "files"))).Must(t)
	defer func() { _ = files.Close() }()
	path := filepath.Join(folder, "archive")
	testenv.NoError(t, os.WriteFile(path, archive, 0o600))
	u := unpacking{database: filepath.Join(folder, "db"), files: files}
	if err := u.unpack(t.Context(), Place{Path: path}); err != nil {
		return err
	}
	return u.verify(nil, false, new(maintenance.Reporter))
}

var invalidArchives = map[string][]byte{
	"empty":              nil,
	"no entries":         tarOf(),
	"out of the folder":  tarOf(entry{name: "files/../../out", content: "x"}),
	"absolute":           tarOf(entry{name: "files//etc/out", content: "x"}),
	"among staged files": tarOf(entry{name: "files/tmp/draft-x", content: "x"}),
	"a link":             tarOf(entry{name: "files/invoices/a", kind: tar.TypeSymlink}, entry{name: "files/invoices/a/b.pdf", content: "x"}),
	"the same twice":     tarOf(entry{name: "files/invoices/A/b.pdf", content: "x"}, entry{name: "files/invoices/A/b.pdf", content: "y"}),
	"two databases":      tarOf(entry{name: "orders.db", content: "x"}, entry{name: "orders.db", content: "y"}),
	"broken manifest":    tarOf(entry{name: "orders.db", content: "x"}, entry{name: "backup.json", content: "{"}),
	"other manifest":     tarOf(entry{name: "orders.db", content: "x"}, entry{name: "backup.json", content: `{"format":1}`}),
	"wrong size":         tarOf(entry{name: "orders.db", content: "x", size: 1 << 40}),
	"invalid gzip":       {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3},
}

func TestUnpackInvalidArchives(t *testing.T) {
	t.Parallel()
	for name, archive := range invalidArchives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := unpackBytes(t, folder, archive); err == nil {
				t.Error("unpacked without an error")
			}
			wantNoOtherFiles(t, folder)
		})
	}
}

// wantNoOtherFiles fails the test if unpacking created anything outside of its
// targets.
func wantNoOtherFiles(t *testing.T, folder string) {
	t.Helper()
	entries := testenv.Of(os.ReadDir(folder)).Must(t)
	for _, e := range entries {
		if !slices.Contains([]string{"files", "db", "archive"}, e.Name()) {
			t.Errorf("%s was created", e.Name())
		}
	}
}

func FuzzUnpack(f *testing.F) {
	for _, archive := range invalidArchives {
		f.Add(archive)
	}
	f.Add(tarOf(entry{name: "files/invoices/A/b.pdf", content: "x"}, entry{name: "orders.db", content: "x"},
		entry{name: "backup.json", content: `{"format":1,"files":1,"database":{"size":1,"sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}`}))
	f.Fuzz(func(t *testing.T, archive []byte) {
		folder := t.TempDir()
		_ = unpackBytes(t, folder, archive)
		wantNoOtherFiles(t, folder)
	})
}
