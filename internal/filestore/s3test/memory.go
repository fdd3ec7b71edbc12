package s3test

import (
	"bufio"
	"crypto/md5"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Memory is a stand-in for a server of buckets that keeps objects in memory, and may have moods.
type Memory struct {
	// Keep returns what the server keeps of an object; nil: all.
	Keep func(content []byte) []byte
	// ETag is the entity tag of all objects; empty: the MD5 of what was sent.
	ETag string

	mu      sync.Mutex
	puts    int
	objects map[string]object
}

type object struct {
	content          []byte
	uploadID, digest string
}

// Puts returns how many objects were sent.
func (m *Memory) Puts() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.puts
}

// Objects returns how many objects there are.
func (m *Memory) Objects() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.objects)
}

// ServeHTTP implements http.Handler.
func (m *Memory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
	stored, found := m.objects[r.URL.Path]
	switch {
	case r.Method == http.MethodPut:
		m.put(w, r)
	case r.Method == http.MethodDelete:
		delete(m.objects, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	case strings.Count(strings.Trim(r.URL.Path, "/"), "/") == 0: // of the bucket
		_, _ = io.WriteString(w, "<ListBucketResult></ListBucketResult>")
	case !found:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Header().Set("ETag", stored.digest)
		w.Header().Set("X-Amz-Meta-Upload-Id", stored.uploadID)
		w.Header().Set("Content-Length", strconv.Itoa(len(stored.content)))
		if r.Method == http.MethodGet {
			_, _ = w.Write(stored.content)
		}
	}
}

// put keeps an object, which must be new.
func (m *Memory) put(w http.ResponseWriter, r *http.Request) {
	if _, found := m.objects[r.URL.Path]; found && r.Header.Get("If-None-Match") != "" {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	content, err := payload(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	stored := object{content, r.Header.Get("X-Amz-Meta-Upload-Id"), m.ETag}
	if m.ETag == "" {
		stored.digest = fmt.Sprintf(`"%x"`, md5.Sum(content))
	}
	if m.Keep != nil {
		stored.content = m.Keep(content)
	}
	if m.objects == nil {
		m.objects = make(map[string]object)
	}
	m.puts++
	m.objects[r.URL.Path] = stored
	w.Header().Set("ETag", stored.digest)
}

// payload returns the body of a request, whose chunks may be signed one by one.
func payload(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	var content []byte
	for body := bufio.NewReader(r.Body); ; {
		line, err := body.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseInt(size, 16, 32)
		if err != nil || n == 0 {
			return content, err
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(body, chunk); err != nil {
			return nil, err
		}
		content = append(content, chunk[:n]...)
	}
}
