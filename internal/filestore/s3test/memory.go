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
	// Overwrites says that the server ignores If-None-Match.
	Overwrites bool

	mu      sync.Mutex
	puts    int
	objects map[string]object
	uploads []*upload
}

// upload is an object that is sent in parts.
type upload struct {
	uploadID string
	parts    map[string][]byte // by number; nil: ended
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
	case r.Method == http.MethodPost && r.URL.Query().Has("uploads"):
		m.uploads = append(m.uploads, &upload{r.Header.Get("X-Amz-Meta-Upload-Id"), make(map[string][]byte)})
		_, _ = fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%d</UploadId></InitiateMultipartUploadResult>", len(m.uploads))
	case r.URL.Query().Has("uploadId"):
		m.multipart(w, r)
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

// Uploads returns how many objects in parts are neither complete nor given up.
func (m *Memory) Uploads() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := 0
	for _, u := range m.uploads {
		if u.parts != nil {
			open++
		}
	}
	return open
}

// multipart takes a part of an object, makes the object of its parts, or gives it up.
func (m *Memory) multipart(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.URL.Query().Get("uploadId"))
	if err != nil || id < 1 || id > len(m.uploads) || m.uploads[id-1].parts == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	u := m.uploads[id-1]
	switch r.Method {
	case http.MethodDelete:
		u.parts = nil
		w.WriteHeader(http.StatusNoContent)
	case http.MethodPut:
		content, err := payload(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		u.parts[r.URL.Query().Get("partNumber")] = content
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, md5.Sum(content)))
	case http.MethodPost:
		var content, digests []byte
		for n := range len(u.parts) {
			part := u.parts[strconv.Itoa(n+1)]
			digest := md5.Sum(part)
			content, digests = append(content, part...), append(digests, digest[:]...)
		}
		tag := fmt.Sprintf(`"%x-%d"`, md5.Sum(digests), len(u.parts))
		if m.keep(w, r, object{content, u.uploadID, tag}) {
			u.parts = nil
			_, _ = io.WriteString(w, "<CompleteMultipartUploadResult><Bucket>bucket</Bucket></CompleteMultipartUploadResult>")
		}
	}
}

// put keeps an object.
func (m *Memory) put(w http.ResponseWriter, r *http.Request) {
	content, err := payload(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.keep(w, r, object{content, r.Header.Get("X-Amz-Meta-Upload-Id"), fmt.Sprintf(`"%x"`, md5.Sum(content))})
}

// keep keeps an object, which must be new if the request says so, and reports whether it was.
func (m *Memory) keep(w http.ResponseWriter, r *http.Request, stored object) bool {
	if _, found := m.objects[r.URL.Path]; found && !m.Overwrites && r.Header.Get("If-None-Match") != "" {
		w.WriteHeader(http.StatusPreconditionFailed)
		return false
	}
	if m.ETag != "" {
		stored.digest = m.ETag
	}
	if m.Keep != nil {
		stored.content = m.Keep(stored.content)
	}
	if m.objects == nil {
		m.objects = make(map[string]object)
	}
	m.puts++
	m.objects[r.URL.Path] = stored
	w.Header().Set("ETag", stored.digest)
	return true
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
