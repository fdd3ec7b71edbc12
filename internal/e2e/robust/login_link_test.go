package robust

import (
	"fmt"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestLoginLinksOfTwoPorts opens links at the wrong one of two ports. It guards that neither
// signs in there, and that this does not use the link up.
func TestLoginLinksOfTwoPorts(t *testing.T) {
	t.Parallel()
	admin := testenv.FreeAddress(t)
	s := start(t, "--admin-listen", admin)
	for right, flags := range map[string][]string{"http://" + admin: {"--operator"}, s.Base: {"--merchant", "355"}} {
		wrong := map[string]string{"http://" + admin: s.Base, s.Base: "http://" + admin}[right]
		made := s.Folder.Run(t, "", append([]string{"login-link", "--name", "Ελένη"}, flags...)...)
		path := strings.TrimSpace(made.Stdout[strings.Index(made.Stdout, "/console/"):])
		got := testenv.Send(t, "", "POST", wrong+path, "")
		got.WantText(t, 403, "another address of the service")
		testenv.Equal(t, fmt.Sprintf("%v: cookie of %s", flags, wrong), "", got.Header.Get("Set-Cookie"))
		testenv.Send(t, "", "POST", right+path, "").WantStatus(t, 303)
		testenv.Send(t, "", "POST", right+path, "").WantText(t, 403, "was used")
	}
}
