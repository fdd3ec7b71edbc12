package storageapi

import (
	"mime"
	"testing"

	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

func TestAttachment(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.pdf":          `attachment; filename=a.pdf`,
		"a b.pdf":        `attachment; filename="a b.pdf"`,
		`a";b.pdf`:       `attachment; filename="a\";b.pdf"`,
		"ΑΒ 1.pdf":       `attachment; filename="__ 1.pdf"; filename*=utf-8''%CE%91%CE%92%201.pdf`,
		"é.png":          `attachment; filename=_.png; filename*=utf-8''%C3%A9.png`,
		"🙂.jpg":          `attachment; filename=_.jpg; filename*=utf-8''%F0%9F%99%82.jpg`,
		"a\u202efdp.png": `attachment; filename=a_fdp.png; filename*=utf-8''a%E2%80%AEfdp.png`,
	} {
		got := web.Attachment(name, asciiName(name))
		testenv.Equal(t, name, want, got)
		if _, params, err := mime.ParseMediaType(got); err != nil || params["filename"] != name {
			t.Errorf("%q: read as %q, error %v", name, params, err)
		}
	}
}
