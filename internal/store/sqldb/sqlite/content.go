package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// content notices that another program has written into a file of the database that a server
// has open: a copy over it, or a cut. It compares what SQLite documents
// (https://sqlite.org/fileformat2.html, https://sqlite.org/walformat.html):
//
//   - Only a checkpoint changes the header or the size of the database, and the index of the log
//     tells of it first. The file change counter never goes back.
//   - The log holds the frames that its index counts, and the last one has the checksum that is
//     there.
//   - The index counts no fewer frames until the log begins anew.
//
// It cannot notice a change that leaves the header, the size and the last frame as they are, nor
// every one into the database between a checkpoint that replaces the header and the next look.
type content struct {
	path  string
	files [3]*os.File // in the order of suffixes; nil before open
	found atomic.Pointer[ReplacedError]

	mu      sync.Mutex
	watched bool
	index   logIndex // read before the header
	header  dbHeader
}

// dbHeader is the header of a database file, and the size of the file.
type dbHeader struct {
	bytes [100]byte
	size  int64
}

// precedes reports whether a checkpoint may have replaced the header by another one.
func (h dbHeader) precedes(next dbHeader) bool {
	// Up to the file change counter everything stays: what kind of file it is.
	counter := func(h dbHeader) uint32 { return binary.BigEndian.Uint32(h.bytes[24:]) }
	return bytes.Equal(h.bytes[:24], next.bytes[:24]) && int32(counter(next)-counter(h)) >= 0
}

// logIndex is the beginning of the index of a write-ahead log: two copies of its header, and how
// far checkpoints are.
type logIndex [136]byte

func (i *logIndex) number(at int) uint32 { return binary.NativeEndian.Uint32(i[at:]) }
func (i *logIndex) frames() int64        { return int64(i.number(16)) }
func (i *logIndex) salts() []byte        { return i[32:40] }
func (i *logIndex) valid() bool          { return i.number(0) == 3007000 && i[12] == 1 }
func (i *logIndex) pageSize() int64 {
	n := int64(binary.NativeEndian.Uint16(i[14:]))
	return n&^1 + n&1<<16
}

// checkpoint returns what a checkpoint changes before it writes, and after. They are equal unless
// one is in progress, or was ended by a crash.
func (i *logIndex) checkpoint() (begun, done [12]byte) {
	copy(begun[:], i.salts())
	copy(done[:], i.salts())
	copy(begun[8:], i[128:132])
	copy(done[8:], i[96:100])
	return begun, done
}

// errTorn is the error of an index that is being written.
var errTorn = errors.New("the index of the log is being written")

// open opens the files. They stay open until no connection of the process uses the database: closing
// one releases the locks that SQLite holds on it.
func (c *content) open(path string) error {
	c.path = path
	for i, suffix := range suffixes {
		file, err := os.Open(path + suffix)
		if err != nil {
			return errors.Join(err, c.close())
		}
		c.files[i] = file
	}
	return nil
}

// watch begins to compare the files.
func (c *content) watch() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index, err = c.readIndex(); err == nil {
		c.header, err = c.readHeader()
	}
	c.watched = err == nil
	return err
}

// check returns a ReplacedError if another program has written into a file, from then on for ever.
func (c *content) check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.watched {
		return nil
	}
	if found := c.found.Load(); found != nil {
		return found
	}
	if suffix, ok := c.look(); !ok {
		found := &ReplacedError{Path: c.path + suffix}
		if suffix != "-shm" {
			// The next start would write the log into a database that it does not belong to.
			aside := c.path + "-wal.aside"
			if os.Rename(c.path+"-wal", aside) == nil {
				found.Aside = aside
			}
		}
		c.found.Store(found)
		return found
	}
	return nil
}

// look compares the files with those of the last look. If one differs, it returns its suffix.
func (c *content) look() (suffix string, ok bool) {
	index, err := c.readIndex()
	switch {
	case errors.Is(err, errTorn):
		return "", true
	case err != nil || !index.valid() || bytes.Equal(index.salts(), c.index.salts()) && index.frames() < c.index.frames():
		return "-shm", false
	case !c.hasFrames(&index):
		if now, err := c.readIndex(); err == nil && now == index {
			return "-wal", false
		}
		return "", true
	}
	header, err := c.readHeader()
	if err != nil {
		return "", false
	}
	if header != c.header {
		_, before := c.index.checkpoint()
		now, err := c.readIndex() // after the header
		begun, done := now.checkpoint()
		if !c.header.precedes(header) || err == nil && begun == done && done == before {
			return "", false
		}
	}
	c.index, c.header = index, header
	return "", true
}

// hasFrames reports whether the log has the frames that its index counts.
func (c *content) hasFrames(index *logIndex) bool {
	const logHeader, frameHeader = 32, 24
	frames := index.frames()
	if frames == 0 {
		return true
	}
	var log [logHeader]byte
	var frame [frameHeader]byte
	_, err := c.files[1].ReadAt(log[:], 0)
	end := logHeader + frames*(frameHeader+index.pageSize())
	if err == nil {
		_, err = c.files[1].ReadAt(frame[:], end-frameHeader-index.pageSize())
	}
	info, statErr := c.files[1].Stat()
	return err == nil && statErr == nil && info.Size() >= end && bytes.Equal(log[16:24], index.salts()) && bytes.Equal(frame[8:16], index.salts()) &&
		binary.BigEndian.Uint32(frame[16:]) == index.number(24) && binary.BigEndian.Uint32(frame[20:]) == index.number(28)
}

// readIndex reads the index. SQLite writes its header twice, so that it can be read meanwhile.
func (c *content) readIndex() (index logIndex, err error) {
	for range 10 {
		if _, err := c.files[2].ReadAt(index[:], 0); err != nil {
			return index, err
		}
		if bytes.Equal(index[:48], index[48:96]) {
			return index, nil
		}
	}
	return index, errTorn
}

func (c *content) readHeader() (header dbHeader, err error) {
	info, err := c.files[0].Stat()
	if err != nil {
		return header, err
	}
	header.size = info.Size()
	if _, err = c.files[0].ReadAt(header.bytes[:], 0); errors.Is(err, io.EOF) {
		err = nil // cut
	}
	return header, err
}

// close closes the files. All connections of the process to the database must be closed.
func (c *content) close() error {
	var err error
	for i, file := range c.files {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
		c.files[i] = nil
	}
	return err
}
