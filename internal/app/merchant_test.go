package app_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"merchantorders/internal/app/apptest"
)

// folder returns a data folder that does not exist yet.
func folder(t *testing.T) apptest.Folder {
	t.Helper()
	return apptest.Folder{Data: filepath.Join(t.TempDir(), "data")}
}

func TestMerchantAdd(t *testing.T) {
	t.Parallel()
	f := folder(t)
	for range 2 {
		got := f.Run(t, "", "merchant", "add", "--id", "355", "--name", "Το μαγαζί μας")
		if want := "merchant 355: Το μαγαζί μας\n"; got.Code != 0 || got.Stdout != want {
			t.Errorf("got %+v, want %q", got, want)
		}
	}
	got := f.Run(t, "", "merchant", "add", "--id", "355", "--name", "Another")
	if want := "merchant-orders: merchant 355 exists already, with another name\n"; got.Code != 1 || got.Stderr != want || got.Stdout != "" {
		t.Errorf("got %+v, want exit code 1 and %q", got, want)
	}
}

func TestMerchantList(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 1200)
	f.Merchant(t, 3)
	got := f.Run(t, "", "merchant", "list")
	want := regexp.MustCompile(`^ID    NAME        CREATED
3     Store 3     20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ
1200  Store 1200  20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ
$`)
	if got.Code != 0 || !want.MatchString(got.Stdout) {
		t.Errorf("got %d\n%s", got.Code, got.Stdout)
	}
}

func TestMerchantListJSON(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 3)
	got := f.Run(t, "", "merchant", "list", "--json")
	want := regexp.MustCompile(`^{"id":3,"name":"Store 3","createdAt":"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"}
$`)
	if got.Code != 0 || !want.MatchString(got.Stdout) {
		t.Errorf("got %d\n%s", got.Code, got.Stdout)
	}
}
