package release

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// shellBlock is a block of docs/install.md.
var shellBlock = regexp.MustCompile("(?s)\n```sh\n(.*?)```\n")

// TestInstallation runs the blocks of docs/install.md as one script, on a machine
// that has the programs of the first line.
func TestInstallation(t *testing.T) {
	testenv.Release(t)
	t.Parallel()
	text := testenv.Of(os.ReadFile("../../../docs/install.md")).Must(t)
	var script strings.Builder
	blocks := shellBlock.FindAllStringSubmatch(string(text), -1)
	for _, block := range blocks {
		script.WriteString(block[1])
	}
	if len(blocks) < 6 {
		t.Fatalf("only %d blocks in the document", len(blocks))
	}
	m := boot(t)
	deb := release(t, newVersion, ".deb")
	m.put(t, deb, "/tmp/"+filepath.Base(deb))
	output := m.script(t, `
		# There is no network: what is installed is the newest version.
		find /var/lib/apt/lists /etc/apt -name '*.list' -delete -o -name '*.sources' -delete -o -path '/var/lib/apt/lists/*' -type f -delete
		cd /tmp
	`+script.String()+`
		systemctl is-active merchant-orders merchant-orders-check.timer
	`)
	testenv.Contains(t, "output", output, `"FIRST-1"`, `{"success":true}`, `version="`+newVersion+`"`, "\nactive\nactive\n")
}
