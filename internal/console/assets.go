package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"

	"merchantorders/internal/web"
)

//go:embed assets
var assetFiles embed.FS

// mediaTypes are those of the assets, by the extension.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// asset is a file that pages load.
type asset struct {
	page    web.Page
	version string // part of its address: the content at an address never changes
}

// loadAssets returns the assets by name.
func loadAssets() map[string]asset {
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		panic(err) // the folder is embedded
	}
	bodies := map[string][]byte{"copy.js": web.CopyScript}
	for _, entry := range entries {
		if bodies[entry.Name()], err = assetFiles.ReadFile("assets/" + entry.Name()); err != nil {
			panic(err)
		}
	}
	all := make(map[string]asset)
	for name, body := range bodies {
		digest := sha256.Sum256(body)
		header := http.Header{}
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'")
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
		all[name] = asset{
			page:    web.Page{ContentType: mediaTypes[path.Ext(name)], Header: header, Body: body},
			version: hex.EncodeToString(digest[:6]),
		}
	}
	return all
}

// assetPath returns the address of an asset.
func (s *site) assetPath(name string) string {
	return s.root + Prefix + "/assets/" + name + "?v=" + s.assets[name].version
}

// asset serves GET /assets/{asset}.
func (s *site) asset(w http.ResponseWriter, r *web.Request) error {
	a, ok := s.assets[r.PathValue("asset")]
	if !ok {
		return web.ErrRouteNotFound
	}
	a.page.Write(w, http.StatusOK)
	return nil
}
