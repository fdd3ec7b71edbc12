package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// unpack returns a folder with the files of the package.
func unpack(t *testing.T) string {
	t.Helper()
	dpkg := testenv.Program(t, "dpkg-deb", "dpkg")
	folder := t.TempDir()
	if output, err := exec.Command(dpkg, "--extract", release(t, newVersion, ".deb"), folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return folder
}

// TestDocumentsOfPackage checks that the files exist that the README of the package links
// to, and those of deploy that its documents do.
func TestDocumentsOfPackage(t *testing.T) {
	testenv.Release(t)
	t.Parallel()
	folder := filepath.Join(unpack(t), "usr/share/doc/merchant-orders")
	links := regexp.MustCompile(`\]\(((?:\.\./deploy/|\w)[\w./-]+)[)#]`)
	for document, atLeast := range map[string]int{"README.md": 20, "docs/monitoring.md": 5, "docs/deployment.md": 5} {
		text := testenv.Of(os.ReadFile(filepath.Join(folder, document))).Must(t)
		found := links.FindAllSubmatch(text, -1)
		for _, link := range found {
			if _, err := os.Stat(filepath.Join(folder, filepath.Dir(document), string(link[1]))); err != nil {
				t.Errorf("%s: %v", document, err)
			}
		}
		if len(found) < atLeast {
			t.Errorf("%s: %d links", document, len(found))
		}
	}
}

// TestShells completes a command line in each shell, with the completion and the
// program of the package, and formats its manual page.
func TestShells(t *testing.T) {
	testenv.Release(t)
	t.Parallel()
	folder := unpack(t)
	for shell, script := range map[string]string{
		"bash": `. usr/share/bash-completion/completions/merchant-orders
			COMP_WORDS=(merchant-orders token r); COMP_CWORD=2; _merchant_orders
			printf '%s\n' "${COMPREPLY[@]}"`,
		// Outside of a completion, stand-ins show what zsh would get.
		"zsh": `_describe() { print -l -- "${(@P)2}"; }; _files() { print files; }
			words=(merchant-orders token r); CURRENT=3
			. usr/share/zsh/vendor-completions/_merchant-orders
			words=(merchant-orders import x); CURRENT=3
			. usr/share/zsh/vendor-completions/_merchant-orders`,
		"fish": `source usr/share/fish/vendor_completions.d/merchant-orders.fish
			complete --do-complete "merchant-orders token r"`,
	} {
		t.Run(shell, func(t *testing.T) {
			cmd := exec.Command(testenv.Program(t, shell, shell), "-c", script)
			cmd.Dir = folder
			cmd.Env = []string{"PATH=" + filepath.Join(folder, "usr/bin") + ":/usr/bin:/bin", "HOME=" + t.TempDir(), "LC_ALL=C.UTF-8"}
			output, err := cmd.CombinedOutput()
			var words []string
			for line := range strings.Lines(string(output)) {
				word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
				word, _, _ = strings.Cut(word, ":")
				words = append(words, word)
			}
			slices.Sort(words)
			want := "revoke rotate"
			if shell == "zsh" {
				want = "files " + want
			}
			if got := strings.Join(words, " "); err != nil || got != want {
				t.Errorf("%v: %q, want %q:\n%s", err, got, want, output)
			}
		})
	}
	t.Run("man", func(t *testing.T) {
		page := filepath.Join(folder, "usr/share/man/man1/merchant-orders.1.gz")
		cmd := exec.Command(testenv.Program(t, "man", "man-db"), "--warnings", "--local-file", page)
		var faults strings.Builder
		cmd.Stderr = &faults
		output, err := cmd.Output()
		if err != nil || faults.Len() > 0 || !strings.Contains(string(output), "merchant-orders token create") {
			t.Errorf("%v: %s\n%.500s", err, &faults, output)
		}
	})
}
