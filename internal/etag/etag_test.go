package etag_test

import (
	"errors"
	"strings"
	"testing"

	"merchantorders/internal/etag"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
)

// own is an order with the data tag 915664-17.
var own = order.LockedOrder{LegacyID: 915664, Revision: 17}

func TestOfOrder(t *testing.T) {
	t.Parallel()
	testenv.Equal(t, "tag", "915664-17", etag.OfOrder(915664, 17))
}

// Proves decision 8 (matching, malformed tags).
func TestParse(t *testing.T) {
	t.Parallel()
	const tag = `"915664-17-0a1b2c3d"`
	for _, test := range []struct {
		name          string
		lines         []string
		match, weakly bool
	}{
		{"the tag", []string{tag}, true, true},
		{"without a view version", []string{`"915664-17"`}, true, false},
		{"another view version", []string{`"915664-17-ffffffff"`}, true, false},
		{"another view version, weak", []string{`W/"915664-17-ffffffff"`}, false, false},
		{"another revision", []string{`"915664-16-0a1b2c3d"`}, false, false},
		{"a longer one", []string{`"915664-170-0a1b2c3d"`}, false, false},
		{"a shorter one", []string{`"915664-1-7-0a1b2c3d"`}, false, false},
		{"the view version alone", []string{`"0a1b2c3d"`}, false, false},
		{"a list", []string{`"a", "b",` + tag + ` , "c"`}, true, true},
		{"a list without it", []string{`"a","b"`}, false, false},
		{"several lines", []string{`"a"`, tag}, true, true},
		{"empty elements", []string{` , ,` + tag + `,,`}, true, true},
		{"weak", []string{`W/` + tag}, false, true},
		{"weak and another", []string{`W/` + tag + `, "a"`}, false, true},
		{"any", []string{"*"}, true, true},
		{"any with space", []string{" * "}, true, true},
		{"compressed", []string{`"915664-17-0a1b2c3d-gzip"`}, true, true},
		{"weak and compressed", []string{`W/"915664-17-0a1b2c3d-gzip"`}, false, true},
		{"compressed, another", []string{`"915664-1-gzip"`}, false, false},
		{"empty tag", []string{`""`}, false, false},
		{"a comma in a tag", []string{`"x,y",` + tag}, true, true},
		{"bytes above ASCII", []string{"\"\xff\xc3\xa9\"," + tag}, true, true},
	} {
		tags, err := etag.Parse(test.lines, "If-Match")
		if err != nil || tags == nil {
			t.Errorf("%s: %v, error %v", test.name, tags, err)
			continue
		}
		testenv.Equal(t, test.name+": match", test.match, tags.MatchOrder(own))
		testenv.Equal(t, test.name+": weak match", test.weakly, tags.MatchWeakly(tag))
	}
	testenv.Of(etag.Parse(nil, "If-Match")).Want(t, "absent", nil)
}

// badTagLists are not lists of entity tags.
var badTagLists = []string{
	"", " ", ",", " , ,", "915664-17", "'915664-17'", `"915664-17`, `915664-17"`, `"a" "b"`, `"a""b"`, `"a";"b"`,
	"*, \"a\"", `"a", *`, "**", `w/"a"`, `W/a`, `W/ "a"`, `W/`, "\"a b\"", "\"a\tb\"", "\"a\x7f\"", "\"a\x00\"", `"a"x`, `x"a"`, `"a", b`,
}

// Proves decision 8 (matching, malformed tags).
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, list := range badTagLists {
		tags, err := etag.Parse([]string{list}, "If-Match")
		var param *strict.ParamError
		if !errors.As(err, &param) || param.Name != "If-Match" {
			t.Errorf("%q: %+v, error %v", list, tags, err)
		}
	}
}

// FuzzParse checks that a valid list has the same meaning with other white
// space.
// Proves decision 8 (matching, malformed tags).
func FuzzParse(f *testing.F) {
	for _, list := range append(badTagLists, "*", `"915664-17"`, `W/"a", "915664-17-gzip",`, `"a","b"`) {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		tags, err := etag.Parse([]string{list}, "If-Match")
		if (tags == nil) == (err == nil) {
			t.Fatalf("%q: %v, error %v", list, tags, err)
		}
		again, errAgain := etag.Parse([]string{"\t" + list + " "}, "If-Match")
		if (err == nil) != (errAgain == nil) {
			t.Fatalf("%q: error %v, and %v with spaces around", list, err, errAgain)
		}
		if err != nil {
			return
		}
		const tag = `"915664-17"`
		if tags.MatchOrder(own) != again.MatchOrder(own) || tags.MatchWeakly(tag) != again.MatchWeakly(tag) {
			t.Errorf("%q means something else with spaces around", list)
		}
		if tags.MatchOrder(own) && !strings.Contains(list, "915664-17") && !strings.Contains(list, "*") {
			t.Errorf("%q matches %s", list, tag)
		}
		longer, err := etag.Parse([]string{list, tag}, "If-Match")
		if strings.TrimSpace(list) == "*" {
			if err == nil {
				t.Errorf("%q and a tag: %+v", list, longer)
			}
		} else if err != nil || !longer.MatchOrder(own) {
			t.Errorf("%q and the tag do not match it: error %v", list, err)
		}
	})
}
