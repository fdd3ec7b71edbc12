package powercut

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"merchantorders/internal/testenv"
)

const device = "/dev/fuse"

// needFUSE leaves a test out where no file system can be served.
func needFUSE(t *testing.T) {
	t.Helper()
	testenv.Long(t, "power cuts on a file system in memory")
	fd, err := syscall.Open(device, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("power cuts are not tested here: %s cannot be opened: %v", device, err)
	}
	_ = syscall.Close(fd)
}

// mounted is a disk that is mounted, and its power. The kernel caches what it reads, which
// SQLite's shared memory needs. It keeps locks itself.
type mounted struct {
	fuse.RawFileSystem // ENOSYS for all that is not here

	dir    string
	server *fuse.Server

	mu      sync.Mutex // guards what follows, and the disk
	disk    *disk
	folders map[uint64][]fuse.DirEntry // what open folders list, by handle
	handle  uint64                     // the newest
	left    int                        // changes until plug is pulled; negative: it is not
	soft    bool                       // then only tell, and do not cut
	cut     bool

	// pulled is closed when there was the last change. The requests under way then, and
	// all that come later, get no response before ended is closed.
	pulled, ended chan struct{}
}

// mountDisk mounts a disk on a folder.
func mountDisk(t *testing.T, d *disk, dir string) *mounted {
	t.Helper()
	m := &mounted{
		RawFileSystem: fuse.NewDefaultRawFileSystem(), dir: dir, disk: d, folders: make(map[uint64][]fuse.DirEntry), left: -1,
		pulled: make(chan struct{}), ended: make(chan struct{}),
	}
	// go-fuse's own mount leaves the descriptor open in programs that start meanwhile, which
	// would keep the file system after the end of this process.
	fd, err := syscall.Open(device, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	testenv.NoError(t, err)
	const maxWrite = 128 << 10
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d,max_read=%d", fd, os.Geteuid(), os.Getegid(), maxWrite)
	testenv.NoError(t, syscall.Mount("powercut", dir, "fuse.powercut", syscall.MS_NOSUID|syscall.MS_NODEV, options))
	m.server, err = fuse.NewServer(m, fmt.Sprintf("/dev/fd/%d", fd), &fuse.MountOptions{
		MaxWrite: maxWrite, ExplicitDataCacheControl: true, DisableReadDirPlus: true, DisableXAttrs: true,
	})
	testenv.NoError(t, err)
	go m.server.Serve()
	return m
}

// unmount unmounts the disk. All its programs must have ended.
func (m *mounted) unmount(t *testing.T) {
	t.Helper()
	testenv.NoError(t, syscall.Unmount(m.dir, 0))
	m.server.Wait()
}

// cutAfter pulls the plug after a number of further changes and syncs. With soft it only
// closes pulled then.
func (m *mounted) cutAfter(changes int, soft bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.cut {
		m.left, m.soft = changes, soft
	}
}

// cutNow pulls the plug.
func (m *mounted) cutNow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cut = true
}

// do runs a request that changes nothing.
func (m *mounted) do(request func() error) fuse.Status { return m.run(0, request) }

// change runs a request that changes or syncs something.
func (m *mounted) change(request func() error) fuse.Status { return m.run(1, request) }

func (m *mounted) run(changes int, request func() error) fuse.Status {
	m.mu.Lock()
	cut := m.cut
	var status fuse.Status
	if !cut {
		status = fuse.ToStatus(request())
		cut = m.count(changes)
	}
	m.mu.Unlock()
	if cut {
		<-m.ended
		return fuse.EIO
	}
	return status
}

// count counts changes and reports whether the plug is pulled now.
func (m *mounted) count(changes int) bool {
	if m.left >= 0 && changes > 0 {
		if m.left -= changes; m.left < 0 {
			close(m.pulled)
			m.cut = !m.soft
		}
	}
	return m.cut
}

// Nothing but this kernel changes a disk, so what it has cached holds.
const cacheTime = time.Hour

func describe(n *node, out *fuse.Attr) {
	*out = fuse.Attr{
		Ino: n.id, Size: uint64(len(n.data)), Blocks: uint64(len(n.data)+sectorSize-1) / sectorSize, Blksize: pageSize,
		Mode: n.mode, Nlink: n.links, Owner: fuse.Owner{Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid())},
	}
	out.SetTimes(&n.changed, &n.changed, &n.changed)
}

func found(n *node, out *fuse.EntryOut) {
	out.NodeId = n.id
	describe(n, &out.Attr)
	out.SetEntryTimeout(cacheTime)
	out.SetAttrTimeout(cacheTime)
}

func opened(out *fuse.OpenOut) { out.OpenFlags = fuse.FOPEN_KEEP_CACHE }

// String implements fuse.RawFileSystem, as the following methods do.
func (m *mounted) String() string { return "powercut" }

func (m *mounted) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	return m.do(func() error {
		n, err := m.disk.lookup(in.NodeId, name)
		if err == nil {
			found(n, out)
		}
		return err
	})
}

func (m *mounted) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return m.do(func() error {
		describe(m.disk.nodes[in.NodeId], &out.Attr)
		out.SetTimeout(cacheTime)
		return nil
	})
}

func (m *mounted) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	return m.change(func() error {
		n := m.disk.nodes[in.NodeId]
		if size, ok := in.GetSize(); ok {
			n.truncate(int64(size))
			n.changed = time.Now()
		}
		if mode, ok := in.GetMode(); ok {
			n.mode = n.mode&syscall.S_IFMT | mode
		}
		if at, ok := in.GetMTime(); ok {
			n.changed = at
		}
		describe(n, &out.Attr)
		out.SetTimeout(cacheTime)
		return nil
	})
}

// make adds a file or folder.
func (m *mounted) make(folder uint64, name string, mode uint32, out *fuse.EntryOut) fuse.Status {
	return m.change(func() error {
		n, err := m.disk.create(folder, name, mode)
		if err == nil {
			found(n, out)
		}
		return err
	})
}

func (m *mounted) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return m.make(in.NodeId, name, syscall.S_IFDIR|in.Mode&0o777, out)
}

func (m *mounted) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	opened(&out.OpenOut)
	return m.make(in.NodeId, name, syscall.S_IFREG|in.Mode&0o777, &out.EntryOut)
}

func (m *mounted) Unlink(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return m.change(func() error { return m.disk.remove(in.NodeId, name) })
}

func (m *mounted) Rmdir(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return m.change(func() error { return m.disk.remove(in.NodeId, name) })
}

func (m *mounted) Rename(_ <-chan struct{}, in *fuse.RenameIn, oldName, newName string) fuse.Status {
	const noReplace = 1 // RENAME_NOREPLACE
	return m.change(func() error {
		if in.Flags&^noReplace != 0 {
			return syscall.EINVAL
		}
		return m.disk.rename(in.NodeId, oldName, in.Newdir, newName, in.Flags&noReplace == 0)
	})
}

func (m *mounted) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	return m.change(func() error {
		n, err := m.disk.link(in.Oldnodeid, in.NodeId, name)
		if err == nil {
			found(n, out)
		}
		return err
	})
}

func (m *mounted) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	opened(out)
	return m.do(func() error { return nil })
}

func (m *mounted) Read(_ <-chan struct{}, in *fuse.ReadIn, buffer []byte) (fuse.ReadResult, fuse.Status) {
	var got []byte
	status := m.do(func() error {
		if data := m.disk.nodes[in.NodeId].data; in.Offset < uint64(len(data)) {
			got = buffer[:copy(buffer, data[in.Offset:])]
		}
		return nil
	})
	return fuse.ReadResultData(got), status
}

func (m *mounted) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	return uint32(len(data)), m.change(func() error {
		m.disk.write(m.disk.nodes[in.NodeId], int64(in.Offset), data)
		return nil
	})
}

func (m *mounted) sync(in *fuse.FsyncIn) fuse.Status {
	return m.change(func() error {
		m.disk.sync(m.disk.nodes[in.NodeId])
		return nil
	})
}

func (m *mounted) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status    { return m.sync(in) }
func (m *mounted) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status { return m.sync(in) }

func (m *mounted) OpenDir(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return m.do(func() error {
		m.handle++
		out.Fh = m.handle
		return nil
	})
}

func (m *mounted) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return m.do(func() error {
		// A program may remove files while it lists them.
		if in.Offset == 0 {
			m.folders[in.Fh] = m.list(m.disk.nodes[in.NodeId])
		}
		list := m.folders[in.Fh]
		for _, e := range list[min(in.Offset, uint64(len(list))):] {
			if !out.AddDirEntry(e) {
				break
			}
		}
		return nil
	})
}

func (m *mounted) list(folder *node) []fuse.DirEntry {
	var list []fuse.DirEntry
	for _, name := range slices.Sorted(maps.Keys(folder.entries)) {
		if id := folder.entries[name].now(); id != 0 {
			list = append(list, fuse.DirEntry{Name: name, Ino: id, Mode: m.disk.nodes[id].mode})
		}
	}
	return list
}

func (m *mounted) ReleaseDir(in *fuse.ReleaseIn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.folders, in.Fh)
}

func (m *mounted) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	const blocks = 10 << 30 / pageSize // more than the tests need
	*out = fuse.StatfsOut{Blocks: blocks, Bfree: blocks, Bavail: blocks, Files: 1 << 20, Ffree: 1 << 20, Bsize: pageSize, Frsize: pageSize, NameLen: 255}
	return fuse.OK
}
