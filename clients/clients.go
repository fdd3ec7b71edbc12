// Package clients makes the packages of the clients of version 2, for the languages of this
// folder and for Go, from their sources, which the program contains.
package clients

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"merchantorders/client"
)

//go:embed python/LICENSE python/README.md python/pyproject.toml python/merchant_orders/*.py python/merchant_orders/py.typed
//go:embed php/LICENSE php/*.md php/composer.json php/MerchantOrders.php php/src
//go:embed typescript/LICENSE typescript/*.md typescript/package.json typescript/dist
var sources embed.FS

// GoModule is the go.mod of the Go client, which needs no other module.
const GoModule = "module merchantorders\n\ngo 1.26.0\n"

// File is a package, or a client that is one file.
type File struct {
	Name    string
	Content []byte
}

// Files are the packages, of the same bytes in each program of the same sources. Version
// is theirs.
type Files struct {
	Version                         string
	Wheel, PHP, PHPPackage, NPM, Go File
	Composer                        []byte // composer.json of the PHP package
}

// All returns the files in the order of a list.
func (f *Files) All() []File { return []File{f.Wheel, f.PHP, f.PHPPackage, f.NPM, f.Go} }

// Made returns the files, which it makes at the first call.
var Made = sync.OnceValue(func() *Files {
	composer := read("php/composer.json")
	version := field(composer, `"version": "(.*)"`)
	goFiles := map[string][]byte{"go.mod": []byte(GoModule), "LICENSE": read("php/LICENSE")}
	for name, text := range below(client.Source, ".") {
		if !strings.HasSuffix(name, "_test.go") && name != "source.go" {
			goFiles["client/"+name] = text
		}
	}
	return &Files{
		Version: version, Composer: composer,
		Wheel:      File{fmt.Sprintf("merchant_orders-%s-py3-none-any.whl", version), wheel(version)},
		PHP:        File{"MerchantOrders.php", read("php/MerchantOrders.php")},
		PHPPackage: File{fmt.Sprintf("merchant-orders-php-%s.zip", version), zipped(below(sources, "php"), "merchant-orders-php/")},
		NPM:        File{fmt.Sprintf("merchant-orders-%s.tgz", version), tarred(below(sources, "typescript"), "package/")},
		Go:         File{fmt.Sprintf("merchant-orders-go-%s.tar.gz", version), tarred(goFiles, "merchantorders/")},
	}
})

// wheel returns the package of Python, as the specification of binary distributions says.
func wheel(version string) []byte {
	project := read("python/pyproject.toml")
	files := make(map[string][]byte)
	for name, text := range below(sources, "python/merchant_orders") {
		files["merchant_orders/"+name] = text
	}
	info := "merchant_orders-" + version + ".dist-info/"
	files[info+"LICENSE"] = read("python/LICENSE")
	files[info+"WHEEL"] = []byte("Wheel-Version: 1.0\nGenerator: merchant-orders\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
	files[info+"METADATA"] = fmt.Appendf(nil, "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: MIT\nRequires-Python: %s\nDescription-Content-Type: text/markdown\n\n%s",
		field(project, `name = "(.*)"`), version, field(project, `description = "(.*)"`), field(project, `requires-python = "(.*)"`), read("python/README.md"))
	var record strings.Builder
	for _, name := range sorted(files) {
		digest := sha256.Sum256(files[name])
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(digest[:]), len(files[name]))
	}
	files[info+"RECORD"] = []byte(record.String() + info + "RECORD,,\n")
	return zipped(files, "")
}

// field returns the first group of the first match of a form that begins a line.
func field(text []byte, form string) string {
	return string(regexp.MustCompile(`(?m)^\s*` + form).FindSubmatch(text)[1])
}

// read returns an embedded file.
func read(name string) []byte {
	text, err := sources.ReadFile(name)
	if err != nil {
		panic(err) // a test makes all files
	}
	return text
}

// below returns the files of a folder by their names in it.
func below(all fs.FS, folder string) map[string][]byte {
	files := make(map[string][]byte)
	err := fs.WalkDir(all, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[strings.TrimPrefix(name, folder+"/")], err = fs.ReadFile(all, name)
		return err
	})
	if err != nil {
		panic(err) // embedded files can be read
	}
	return files
}
