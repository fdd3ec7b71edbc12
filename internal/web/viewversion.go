package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// ViewVersion returns a short text that differs if one of the parts differs: the
// versions of the views, and the settings that bodies show.
func ViewVersion(parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(hash, "%q", part) // a hash never returns an error
	}
	return hex.EncodeToString(hash.Sum(nil)[:4])
}

// entityTag returns the entity tag of a body: the data tag of what it shows, and the
// ViewVersion of the service.
func entityTag(dataTag, viewVersion string) string {
	if viewVersion != "" {
		dataTag += "-" + viewVersion
	}
	return `"` + dataTag + `"`
}
