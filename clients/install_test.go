package clients_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"merchantorders/clients"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestInstall installs the packages into empty projects by the commands of the page
// /docs/clients, with no other server, and runs the programs
// of their READMEs.
func TestInstall(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "python3", "python3-pip")
	testenv.Program(t, "composer", "composer")
	s := apptest.Start(t)
	page := testenv.Send(t, "", "GET", s.BaseURL+"/docs/clients/clients.md", "").Body
	for _, test := range []struct {
		heading, before, program string
		accepted                 int // orders of three
	}{
		{"Python", "export PIP_NO_INDEX=1 PIP_TARGET=. PIP_ROOT_USER_ACTION=ignore", `
			program merchant_orders-*.dist-info/METADATA >accept.py
			! command -v mypy || mypy --strict --cache-dir cache accept.py
			python3 accept.py`, 3},
		{"PHP", `
			echo '{"config":{"secure-http":false},"repositories":{"packagist.org":false}}' >composer.json
			export COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_NO_INTERACTION=1 COMPOSER_HOME=$PWD/home`, `
			cmp MerchantOrders.php vendor/merchant-orders/client/MerchantOrders.php
			php -r 'require "vendor/autoload.php"; new MerchantOrders\Client("https://x", "x");'
			program vendor/merchant-orders/client/README.md >accept.php
			php accept.php`, 3},
		{"TypeScript", "echo '{}' >package.json", "program node_modules/merchant-orders/README.md >accept.mjs\nnode accept.mjs", 3},
		{"Go", "export GOPROXY=off GOFLAGS= GOWORK=off GOTOOLCHAIN=local GOMODCACHE=$PWD/cache", `
			program merchantorders/client/README.md >main.go
			go vet
			go mod tidy -diff
			go run .`, 3},
	} {
		t.Run(test.heading, func(t *testing.T) {
			t.Parallel()
			_, section, _ := strings.Cut(page, "\n## "+test.heading+"\n")
			section, _, _ = strings.Cut(section, "\n## ")
			script := []string{"set -ex\nprogram() { sed '1,/^```[a-z]/d; /^```$/,$d' \"$@\"; }", test.before}
			for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
				script = append(script, block[1])
			}
			s := apptest.Start(t)
			s.Import(t, apptest.Registered(apptest.MerchantID, 1, 3))
			command := exec.CommandContext(t.Context(), "bash", "-c", strings.Join(append(script, test.program), "\n"))
			command.Dir = t.TempDir()
			command.Env = append(os.Environ(), "ORDERS_URL="+s.BaseURL, "ORDERS_TOKEN="+s.Token)
			output, err := command.CombinedOutput()
			if err != nil || strings.Contains(string(output), "status 4") {
				t.Fatalf("%v: %s", err, output)
			}
			testenv.Send(t, s.Token, "GET", s.BaseURL+"/v2/orders?state=in-processing", "").WantText(t, 200, fmt.Sprintf(`"totalItems":%d`, test.accepted))
		})
	}
	for _, file := range clients.Made().All() {
		if served := testenv.Send(t, "", "GET", s.BaseURL+"/docs/clients/"+file.Name, ""); served.Body != strings.TrimSuffix(string(file.Content), "\n") {
			t.Errorf("%s: status %d", file.Name, served.Status)
		}
	}
}

// TestSources compares what the packages have twice with the files of the repository.
func TestSources(t *testing.T) {
	t.Parallel()
	license := testenv.Of(os.ReadFile("../LICENSE")).Must(t)
	for _, folder := range []string{"php", "python", "typescript"} {
		testenv.Equal(t, folder, string(license), string(testenv.Of(os.ReadFile(filepath.Join(folder, "LICENSE"))).Must(t)))
	}
	if types := testenv.Of(os.ReadFile("typescript/dist/client.d.ts")).Must(t); bytes.Contains(types, []byte("Uint8Array<")) {
		t.Error("TypeScript before 5.7 does not know this type")
	}
	goMod := testenv.Of(os.ReadFile("../go.mod")).Must(t)
	if version := regexp.MustCompile(`(?m)^go .*$`).Find(goMod); !bytes.Contains([]byte(clients.GoModule), version) {
		t.Errorf("the module of the Go client lacks %q", version)
	}
}
