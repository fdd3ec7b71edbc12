package docpages

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"
	texttemplate "text/template"

	"merchantorders/clients"
	"merchantorders/internal/web"
)

// addClients adds the packages of the clients, and what Composer reads, and returns the page
// with the commands that install them. baseURL may be empty.
func (s *site) addClients(baseURL string) *page {
	packages := clients.Made()
	const folder = "/docs/clients/"
	for _, file := range packages.All() {
		s.contents[folder+file.Name] = newContent(packageTypes[path.Ext(file.Name)], policy, file.Content)
	}
	var composer map[string]any
	if err := json.Unmarshal(packages.Composer, &composer); err != nil {
		panic(err) // tests load it
	}
	composer["dist"] = map[string]string{"type": "zip", "url": baseURL + folder + packages.PHPPackage.Name}
	list, _ := json.Marshal(map[string]any{"packages": map[string]any{composer["name"].(string): map[string]any{packages.Version: composer}}})
	s.contents[folder+"packages.json"] = newContent(web.JSONType, policy, list)

	var text bytes.Buffer
	sum := func(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }
	template := texttemplate.Must(texttemplate.New("clients.txt").Funcs(texttemplate.FuncMap{"sum": sum}).ParseFS(files, "assets/clients.txt"))
	if err := template.Execute(&text, map[string]any{"Root": s.root, "Base": baseURL, "Files": packages}); err != nil {
		panic(err) // tests execute the template
	}
	s.contents[folder+"clients.md"] = newContent(markdown, policy, text.Bytes())
	return &page{
		Address: s.root + "/docs/clients", Title: "Clients", Source: s.root + folder + "clients.md", Body: render(text.String()),
		Summary: "The clients for Python, PHP, TypeScript and Go, to install from this service.",
	}
}

// packageTypes are the media types of packages by extension.
var packageTypes = map[string]string{
	".whl": "application/zip", ".zip": "application/zip", ".tgz": "application/gzip", ".gz": "application/gzip", ".php": "text/plain; charset=utf-8",
}
