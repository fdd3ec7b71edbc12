package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// writeLockByte is the byte of the file with the suffix -shm whose lock is the write lock.
const writeLockByte = 120

// writeLockHolder describes the process that holds the write lock of a database, as far as
// Linux tells. It opens no file of the database: to close one would release the locks that
// this process has on it.
func writeLockHolder(path string) string {
	info, err := os.Stat(path + "-shm")
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	locks, err := os.ReadFile("/proc/locks")
	if !ok || err != nil {
		return ""
	}
	inode := fmt.Sprintf(":%d", stat.Ino)
	for line := range strings.Lines(string(locks)) {
		// 1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 120 120
		f := strings.Fields(line)
		if len(f) != 8 || f[3] != "WRITE" || !strings.HasSuffix(f[5], inode) {
			continue
		}
		first, firstErr := strconv.Atoi(f[6])
		last, lastErr := strconv.Atoi(f[7])
		if firstErr == nil && lastErr == nil && first <= writeLockByte && writeLockByte <= last {
			return describeProcess(f[4])
		}
	}
	return ""
}

// describeProcess returns the id of a process with its command line, and whether it is
// stopped.
func describeProcess(id string) string {
	text := "process " + id
	if line, err := os.ReadFile("/proc/" + id + "/cmdline"); err == nil {
		text += " (" + string(bytes.TrimSpace(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))) + ")"
	}
	if status, err := os.ReadFile("/proc/" + id + "/stat"); err == nil {
		// The name, in parentheses, may have any character.
		_, rest, _ := strings.Cut(string(status[bytes.LastIndexByte(status, ')')+1:]), " ")
		if strings.HasPrefix(rest, "T") || strings.HasPrefix(rest, "t") {
			text += ", which is stopped: continue it with kill -CONT " + id + ", or end it"
		}
	}
	return text
}
