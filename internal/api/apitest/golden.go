package apitest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// CheckViewVersion checks that the golden files in testdata have a digest, which the
// test of a version records beside its ViewVersion: if a body changes, both must.
func CheckViewVersion(t *testing.T, viewVersion string, digests map[string]string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("golden files %q, error %v", files, err)
	}
	all := sha256.New()
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = all.Write(content) // a hash never returns an error
	}
	if got := hex.EncodeToString(all.Sum(nil)[:8]); got != digests[viewVersion] {
		t.Errorf("the digest of the golden files is %q, and %q is recorded for ViewVersion %s: if a body has changed, "+
			"raise ViewVersion and record the new digest", got, digests[viewVersion], viewVersion)
	}
}
