package powercut

import (
	"errors"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// What a disk writes at once, and so what a power cut keeps or loses as a whole: a page if
// all goes well, else a sector.
const (
	pageSize   = 4096
	sectorSize = 512
)

// rootID is the number of the root folder.
const rootID = 1

// disk is a file system in memory. It keeps what programs see, and what is on the disk for
// certain: content and size of a file as of its last sync, and the entries of a folder as of
// the folder's last sync. A sync of a file does not make its entry durable. It is not safe
// for concurrent use.
type disk struct {
	nodes  map[uint64]*node
	last   uint64 // the newest number of a node
	faults faults
	owed   *node // a log whose sync is put off; see faults.lazyLog
}

// faults are what a disk does wrong. The zero value does nothing wrong.
type faults struct {
	// ignores reports whether a sync of a file or folder is ignored; nil: none is.
	ignores func(n *node) bool
	// lazyLog does with SQLite's log what synchronous=NORMAL does: it is synced before the
	// database file is written, not at each commit.
	lazyLog bool
}

// node is a file or a folder.
type node struct {
	id      uint64
	mode    uint32 // type and permissions
	links   uint32
	changed time.Time
	path    string // where it was made
	content        // of a file
	entries map[string]*entry
}

func (n *node) isFolder() bool { return n.entries != nil }

func newDisk() *disk {
	d := &disk{nodes: make(map[uint64]*node)}
	d.add("", syscall.S_IFDIR|0o700)
	return d
}

// add adds a node without an entry.
func (d *disk) add(path string, mode uint32) *node {
	d.last++
	n := &node{id: d.last, mode: mode, changed: time.Now(), path: path, content: newContent(nil)}
	if mode&syscall.S_IFMT == syscall.S_IFDIR {
		n.entries = make(map[string]*entry)
	}
	d.nodes[n.id] = n
	return n
}

// folder returns the folder with a number, ENOTDIR if it is a file.
func (d *disk) folder(id uint64) (*node, error) {
	n, ok := d.nodes[id]
	switch {
	case !ok:
		return nil, syscall.ESTALE
	case !n.isFolder():
		return nil, syscall.ENOTDIR
	}
	return n, nil
}

// lookup returns the node with a name in a folder, or ENOENT.
func (d *disk) lookup(folder uint64, name string) (*node, error) {
	parent, err := d.folder(folder)
	if err != nil {
		return nil, err
	}
	if e, ok := parent.entries[name]; ok && e.now() != 0 {
		return d.nodes[e.now()], nil
	}
	return nil, syscall.ENOENT
}

// isFree returns EEXIST if a folder has the name.
func (d *disk) isFree(folder uint64, name string) error {
	_, err := d.lookup(folder, name)
	switch {
	case errors.Is(err, syscall.ENOENT):
		return nil
	case err == nil:
		return syscall.EEXIST
	}
	return err
}

// create adds a file or folder, or returns EEXIST.
func (d *disk) create(folder uint64, name string, mode uint32) (*node, error) {
	if err := d.isFree(folder, name); err != nil {
		return nil, err
	}
	parent := d.nodes[folder]
	n := d.add(path.Join(parent.path, name), mode)
	d.enter(parent, name, n)
	return n, nil
}

// enter gives a node, or none, a name in a folder, and takes it from the one that had it.
func (d *disk) enter(parent *node, name string, n *node) *version {
	e, ok := parent.entries[name]
	if !ok {
		e = &entry{versions: []*version{{}}}
		parent.entries[name] = e
	}
	if before := d.nodes[e.now()]; before != nil {
		before.links--
	}
	v := &version{of: e}
	if n != nil {
		v.node = n.id
		n.links++
	}
	e.versions = append(e.versions, v)
	parent.changed = time.Now()
	return v
}

// link gives a file a second name.
func (d *disk) link(id, folder uint64, name string) (*node, error) {
	if err := d.isFree(folder, name); err != nil {
		return nil, err
	}
	d.enter(d.nodes[folder], name, d.nodes[id])
	return d.nodes[id], nil
}

// remove takes the name of a file or an empty folder.
func (d *disk) remove(folder uint64, name string) error {
	n, err := d.lookup(folder, name)
	if err != nil {
		return err
	}
	for _, e := range n.entries {
		if e.now() != 0 {
			return syscall.ENOTEMPTY
		}
	}
	d.enter(d.nodes[folder], name, nil)
	return nil
}

// rename moves a node to another name, and replaces the file that has it, if any.
func (d *disk) rename(from uint64, oldName string, to uint64, newName string, replace bool) error {
	n, err := d.lookup(from, oldName)
	if err != nil {
		return err
	}
	switch there, err := d.lookup(to, newName); {
	case err != nil && !errors.Is(err, syscall.ENOENT):
		return err
	case there == n:
		return nil
	case there != nil && !replace:
		return syscall.EEXIST
	case there != nil && (there.isFolder() || n.isFolder()):
		return syscall.ENOTEMPTY
	}
	added := d.enter(d.nodes[to], newName, n)
	removed := d.enter(d.nodes[from], oldName, nil)
	// A cut never takes both names. It may leave both, but not those of a folder: no disk has
	// a folder twice.
	removed.with = added
	if n.isFolder() {
		added.with = removed
	}
	return nil
}

// write writes to a file.
func (d *disk) write(n *node, at int64, data []byte) {
	if d.owed != nil && d.owed.path == n.path+logSuffix {
		d.owed.content.sync()
		d.owed = nil
	}
	n.content.write(at, data)
	n.changed = time.Now()
}

// logSuffix ends the name of SQLite's log.
const logSuffix = "-wal"

// sync makes a file or the entries of a folder durable.
func (d *disk) sync(n *node) {
	switch _, headed := n.pages[0]; {
	case d.faults.ignores != nil && d.faults.ignores(n):
	case n.isFolder():
		for name, e := range n.entries {
			e.settle(len(e.versions) - 1)
			if e.now() == 0 {
				delete(n.entries, name)
			}
		}
	case d.faults.lazyLog && strings.HasSuffix(n.path, logSuffix) && !headed: // its header is synced also then
		d.owed = n
	default:
		n.content.sync()
	}
}

// cutPower leaves what is on the disk: of what was not synced, dice choose. Afterwards all of
// it is durable.
func (d *disk) cutPower(dice *rand.Rand) {
	for _, id := range slices.Sorted(maps.Keys(d.nodes)) {
		n := d.nodes[id]
		n.forget(dice)
		pick := newPick(dice)
		for _, name := range slices.Sorted(maps.Keys(n.entries)) {
			e := n.entries[name]
			e.settle(pick(len(e.versions)))
		}
	}
	// Settling one entry may settle others, so look at them only now.
	kept := make(map[uint64]*node)
	d.keep(rootID, kept)
	d.nodes, d.owed = kept, nil
}

// keep adds a node and what is below it.
func (d *disk) keep(id uint64, kept map[uint64]*node) {
	n := d.nodes[id]
	if kept[id] != nil {
		n.links++
		return
	}
	kept[id], n.links = n, 1
	for name, e := range n.entries {
		e.versions = []*version{{node: e.versions[0].node, of: e}}
		if e.now() == 0 {
			delete(n.entries, name)
			continue
		}
		d.keep(e.now(), kept)
	}
}

// newPick returns what chooses one of n versions, of which the first is on the disk and the
// last is what programs see: always the first, always the last, or any.
func newPick(dice *rand.Rand) func(n int) int {
	switch dice.IntN(4) {
	case 0:
		return func(int) int { return 0 }
	case 1:
		return func(n int) int { return n - 1 }
	}
	return dice.IntN
}

// entry is a name in a folder.
type entry struct {
	versions []*version // the first is on the disk, the last is what programs see
}

// version is the node that a name had at a time.
type version struct {
	node uint64 // 0: none
	of   *entry
	with *version // it is on the disk if this one is; nil: none
}

func (e *entry) now() uint64 { return e.versions[len(e.versions)-1].node }

// settle makes the versions of an entry up to an index durable.
func (e *entry) settle(at int) {
	passed := e.versions[1 : at+1]
	e.versions = e.versions[at:]
	for _, v := range passed {
		if v.with == nil {
			continue
		}
		if i := slices.Index(v.with.of.versions, v.with); i > 0 {
			v.with.of.settle(i)
		}
	}
}

// content is what a file has.
type content struct {
	data  []byte
	sizes []int64            // the first is on the disk, the last is that of data
	pages map[int64][][]byte // those written since the last sync: the first is on the disk
}

func newContent(data []byte) content {
	return content{data: data, sizes: []int64{int64(len(data))}, pages: make(map[int64][][]byte)}
}

func (c *content) sync() { *c = newContent(c.data) }

// page returns a copy of a page, with zeros where the file has ended.
func (c *content) page(i int64) []byte {
	page := make([]byte, pageSize)
	if at := i * pageSize; at < int64(len(c.data)) {
		copy(page, c.data[at:])
	}
	return page
}

// changePages changes the bytes from one place to another, and notes what the pages were and
// are.
func (c *content) changePages(from, to int64, change func()) {
	first, last := from/pageSize, (to-1)/pageSize
	for i := first; i <= last; i++ {
		if c.pages[i] == nil {
			c.pages[i] = [][]byte{c.page(i)}
		}
	}
	change()
	for i := first; i <= last; i++ {
		c.pages[i] = append(c.pages[i], c.page(i))
	}
}

func (c *content) write(at int64, data []byte) {
	if len(data) == 0 {
		return
	}
	end := at + int64(len(data))
	if end > int64(len(c.data)) {
		c.truncate(end)
	}
	c.changePages(at, end, func() { copy(c.data[at:], data) })
}

// truncate changes the size. A file that grows has zeros there.
func (c *content) truncate(size int64) {
	now := int64(len(c.data))
	switch {
	case size == now:
		return
	case size > now:
		c.data = append(c.data, make([]byte, size-now)...)
	default:
		c.changePages(size, now, func() {
			clear(c.data[size:])
			c.data = c.data[:size]
		})
	}
	c.sizes = append(c.sizes, size)
}

// forget is cutPower for a file. Each page or sector is independent of the others.
func (c *content) forget(dice *rand.Rand) {
	pick, unit := newPick(dice), pageSize
	if dice.IntN(2) == 0 {
		unit = sectorSize
	}
	size := c.sizes[pick(len(c.sizes))]
	data := make([]byte, max(size, int64(len(c.data))))
	copy(data, c.data)
	for _, i := range slices.Sorted(maps.Keys(c.pages)) {
		versions := c.pages[i]
		for from := 0; from < pageSize; from += unit {
			if at := i*pageSize + int64(from); at < int64(len(data)) {
				copy(data[at:], versions[pick(len(versions))][from:from+unit])
			}
		}
	}
	*c = newContent(data[:size:size])
}
