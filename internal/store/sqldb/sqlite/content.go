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

	mu     sync.Mutex
	index  logIndex // read before the header; zero: not watched
	header dbHeader
}

// dbHeader is the header of a database file, and the size of the file.
type dbHeader struct {
	bytes [100]byte
	size  int64
}

// logIndex is the beginning of the index of a write-ahead log: two copies of its header, and how
// far checkpoints are.
type logIndex [136]byte

func (i *logIndex) number(at int) uint32 { return binary.NativeEndian.Uint32(i[at:]) }
func (i *logIndex) frames() int64        { return int64(i.number(16)) }
func (i *logIndex) salts() []byte        { return i[32:40] }
func (i *logIndex) written() []byte      { return i[96:100] }  // by checkpoints
func (i *logIndex) attempted() []byte    { return i[128:132] } // set before a checkpoint writes
func (i *logIndex) pageSize() int64 {
	n := int64(binary.NativeEndian.Uint16(i[14:]))
	return n&^1 + n&1<<16
}

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
	index, err := c.readIndex()
	if err == nil {
		c.header, err = c.readHeader()
	}
	if err == nil {
		c.index = index
	}
	return err
}

// check returns a ReplacedError if another program has written into a file, from then on for ever.
func (c *content) check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.found.Load(); found != nil {
		return found
	}
	if c.index == (logIndex{}) {
		return nil
	}
	suffix, ok := c.look()
	if ok {
		return nil
	}
	found := &ReplacedError{Path: c.path + suffix}
	// The next start would write the log into a database that it does not belong to.
	if aside := c.path + "-wal.aside"; suffix != "-shm" && os.Rename(c.path+"-wal", aside) == nil {
		found.Aside = aside
	}
	c.found.Store(found)
	return found
}

// look compares the files with those of the last look. If one differs, it returns its suffix.
func (c *content) look() (suffix string, ok bool) {
	index, err := c.readIndex()
	switch {
	case errors.Is(err, errTorn):
		return "", true
	case err != nil || index.number(0) != 3007000 || index[12] != 1, bytes.Equal(index.salts(), c.index.salts()) && index.frames() < c.index.frames():
		return "-shm", false
	case !c.hasFrames(&index):
		now, err := c.readIndex()
		return "-wal", err != nil || now != index
	}
	header, err := c.readHeader()
	if err != nil {
		return "", false
	}
	if header != c.header {
		now, err := c.readIndex() // after the header
		noCheckpoint := err == nil && bytes.Equal(now.salts(), c.index.salts()) && bytes.Equal(now.written(), c.index.written()) && bytes.Equal(now.attempted(), now.written())
		// Up to the file change counter everything stays: what kind of file it is.
		counted := int32(binary.BigEndian.Uint32(header.bytes[24:]) - binary.BigEndian.Uint32(c.header.bytes[24:]))
		if noCheckpoint || counted < 0 || !bytes.Equal(header.bytes[:24], c.header.bytes[:24]) {
			return "", false
		}
	}
	c.index, c.header = index, header
	return "", true
}

// hasFrames reports whether the log has the frames that its index counts.
func (c *content) hasFrames(index *logIndex) bool {
	const logHeader, frameHeader = 32, 24
	if index.frames() == 0 {
		return true
	}
	var log [logHeader]byte
	var frame [frameHeader]byte
	end := logHeader + index.frames()*(frameHeader+index.pageSize())
	_, err := c.files[1].ReadAt(log[:], 0)
	_, frameErr := c.files[1].ReadAt(frame[:], end-frameHeader-index.pageSize())
	_, endErr := c.files[1].ReadAt(make([]byte, 1), end-1)
	return err == nil && frameErr == nil && endErr == nil && bytes.Equal(log[16:24], index.salts()) && bytes.Equal(frame[8:16], index.salts()) &&
		binary.BigEndian.Uint32(frame[16:]) == index.number(24) && binary.BigEndian.Uint32(frame[20:]) == index.number(28)
}

// errTorn is the error of an index that is being written.
var errTorn = errors.New("the index of the log is being written")

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
