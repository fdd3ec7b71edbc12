package s3

import (
	"errors"
	"testing"

	"merchantorders/internal/testenv"
)

// TestRotatedKeys gives a bucket other keys: they are used as soon as the ones before
// count as old, and those before while the new ones cannot be read.
func TestRotatedKeys(t *testing.T) {
	t.Parallel()
	now, err := Credentials{"first", "secret", ""}, error(nil)
	keys := newCredentials(Bucket{Credentials: now, Reread: func() (Credentials, error) { return now, err }})
	want := func(id string) {
		t.Helper()
		keys.Expire()
		value := testenv.Of(keys.GetWithContext(nil)).Must(t)
		testenv.Equal(t, "key", id, value.AccessKeyID)
		if keys.IsExpired() {
			t.Error("the keys are read for every request")
		}
	}
	want("first")
	now = Credentials{"second", "secret", ""}
	want("second")
	now, err = Credentials{}, errors.New("no such file")
	want("second")
}
