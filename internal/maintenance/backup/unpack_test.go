package backup

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"merchantorders/internal/filestore/disk"
)

// entry is a file of a made-up archive.
type entry struct {
	name, content string
	kind          byte // 0: a regular file
	size          int64
}

// tarOf returns an archive. Where a size is given the header lies.
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

// unpackBytes unpacks an archive below a folder.
func unpackBytes(t *testing.T, folder string, archive []byte) error {
	files, err := disk.Open(filepath.Join(folder, "files"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = files.Close() }()
	u := &unpacker{database: filepath.Join(folder, "db"), files: files}
	path := filepath.Join(folder, "archive")
	if err := os.WriteFile(path, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	return u.unpack(t.Context(), path)
}

var strangeArchives = map[string][]byte{
	"empty":             nil,
	"nothing in it":     tarOf(),
	"out of the folder": tarOf(entry{name: "files/../../out", content: "x"}),
	"absolute":          tarOf(entry{name: "files//etc/out", content: "x"}),
	"among the drafts":  tarOf(entry{name: "files/tmp/draft-x", content: "x"}),
	"a link":            tarOf(entry{name: "files/invoices/a", kind: tar.TypeSymlink}, entry{name: "files/invoices/a/b.pdf", content: "x"}),
	"the same twice":    tarOf(entry{name: "files/invoices/A/b.pdf", content: "x"}, entry{name: "files/invoices/A/b.pdf", content: "y"}),
	"two databases":     tarOf(entry{name: "orders.db", content: "x"}, entry{name: "orders.db", content: "y"}),
	"broken manifest":   tarOf(entry{name: "orders.db", content: "x"}, entry{name: "backup.json", content: "{"}),
	"other manifest":    tarOf(entry{name: "orders.db", content: "x"}, entry{name: "backup.json", content: `{"format":1}`}),
	"a lie about size":  tarOf(entry{name: "orders.db", content: "x", size: 1 << 40}),
	"packed nonsense":   {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3},
}

func TestUnpackStrangeArchives(t *testing.T) {
	t.Parallel()
	for name, archive := range strangeArchives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := unpackBytes(t, folder, archive); err == nil {
				t.Error("taken for a backup")
			}
			wantNothingElse(t, folder)
		})
	}
}

// wantNothingElse fails the test when anything lies beside what may.
func wantNothingElse(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains([]string{"files", "db", "archive"}, e.Name()) {
			t.Errorf("%s was made", e.Name())
		}
	}
}

func FuzzUnpack(f *testing.F) {
	for _, archive := range strangeArchives {
		f.Add(archive)
	}
	f.Add(tarOf(entry{name: "files/invoices/A/b.pdf", content: "x"}, entry{name: "orders.db", content: "x"},
		entry{name: "backup.json", content: `{"format":1,"files":1,"database":{"size":1,"sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}`}))
	f.Fuzz(func(t *testing.T, archive []byte) {
		folder := t.TempDir()
		_ = unpackBytes(t, folder, archive)
		wantNothingElse(t, folder)
	})
}
