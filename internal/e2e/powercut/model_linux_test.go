package powercut

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/testenv"
)

// shows returns the names on a disk, each with the content of its file.
func (d *disk) shows() string {
	var all []string
	for name, e := range d.nodes[rootID].entries {
		if n := d.nodes[e.now()]; n != nil {
			all = append(all, name+"="+strings.TrimRight(string(n.data), "\x00"))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestDisk has what each power cut may leave, and nothing else.
func TestDisk(t *testing.T) {
	t.Parallel()
	file := func(t *testing.T, d *disk, name, text string) *node {
		n := testenv.Of(d.create(rootID, name, syscall.S_IFREG|0o600)).Must(t)
		d.write(n, 0, []byte(text))
		return n
	}
	syncRoot := func(d *disk) { d.sync(d.nodes[rootID]) }
	for name, test := range map[string]struct {
		do   func(t *testing.T, d *disk)
		want []string
	}{
		"nothing is synced": {func(t *testing.T, d *disk) { file(t, d, "a", "1") }, []string{"", "a=", "a=1"}},
		"the file is synced": {
			func(t *testing.T, d *disk) { d.sync(file(t, d, "a", "1")) },
			[]string{"", "a=1"},
		},
		"the folder is synced": {
			func(t *testing.T, d *disk) { file(t, d, "a", "1"); syncRoot(d) },
			[]string{"a=", "a=1"},
		},
		"both are synced": {
			func(t *testing.T, d *disk) { d.sync(file(t, d, "a", "1")); syncRoot(d) },
			[]string{"a=1"},
		},
		"written again": {
			func(t *testing.T, d *disk) {
				n := file(t, d, "a", "1")
				d.sync(n)
				syncRoot(d)
				d.write(n, 0, []byte("2"))
				d.write(n, 0, []byte("3"))
			},
			[]string{"a=1", "a=2", "a=3"},
		},
		"truncated": {
			func(t *testing.T, d *disk) {
				n := file(t, d, "a", "12")
				d.sync(n)
				syncRoot(d)
				n.truncate(1)
			},
			[]string{"a=1", "a=12"},
		},
		"renamed": {
			func(t *testing.T, d *disk) {
				d.sync(file(t, d, "a", "1"))
				syncRoot(d)
				testenv.NoError(t, d.rename(rootID, "a", rootID, "b", true))
			},
			[]string{"a=1", "a=1 b=1", "b=1"}, // never neither
		},
		"replaced": {
			func(t *testing.T, d *disk) {
				d.sync(file(t, d, "a", "1"))
				d.sync(file(t, d, "b", "2"))
				syncRoot(d)
				testenv.NoError(t, d.rename(rootID, "a", rootID, "b", true))
			},
			[]string{"a=1 b=1", "a=1 b=2", "b=1"},
		},
		"a folder is renamed": {
			func(t *testing.T, d *disk) {
				testenv.Of(d.create(rootID, "a", syscall.S_IFDIR|0o700)).Must(t)
				syncRoot(d)
				testenv.NoError(t, d.rename(rootID, "a", rootID, "b", true))
			},
			[]string{"a=", "b="}, // never both
		},
		"removed": {
			func(t *testing.T, d *disk) {
				d.sync(file(t, d, "a", "1"))
				syncRoot(d)
				testenv.NoError(t, d.remove(rootID, "a"))
			},
			[]string{"", "a=1"},
		},
		"removed and synced": {
			func(t *testing.T, d *disk) {
				d.sync(file(t, d, "a", "1"))
				testenv.NoError(t, d.remove(rootID, "a"))
				syncRoot(d)
			},
			[]string{""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left := make(map[string]bool)
			for seed := range uint64(300) {
				d := newDisk()
				test.do(t, d)
				dice := rand.New(rand.NewPCG(seed, 0))
				d.cutPower(dice)
				shown := d.shows()
				left[shown] = true
				if d.cutPower(dice); d.shows() != shown {
					t.Fatalf("a second cut leaves %q of %q", d.shows(), shown)
				}
			}
			testenv.Equal(t, "what is left", test.want, slices.Sorted(maps.Keys(left)))
		})
	}
}
