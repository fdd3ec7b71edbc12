// Package s3test starts a real S3 server on the loopback address for tests. It
// stores objects in a temporary directory. The server is built from the tools
// module. If it cannot be built or started, the test fails.
package s3test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"merchantorders/internal/testenv"
)

// The account of the server, and its region.
const (
	AccessKey = "test-access"
	SecretKey = "test-secret"
	Region    = "eu-central-1"
)

// module is the main package of the server.
const module = "merchantorders/tools/s3server"

// Environment returns the variables from which the service reads the account.
func Environment() []string {
	return []string{"AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey}
}

var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// Main runs the tests of a package with the account in their environment, and
// stops the server that they started. Call it from TestMain.
func Main(run func() int) int {
	for _, variable := range Environment() {
		name, value, _ := strings.Cut(variable, "=")
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	defer func() {
		if shared.server != nil {
			shared.server.Remove()
		}
	}()
	return run()
}

// Bucket creates an empty bucket on the server that the tests of the package
// share, and returns its name and the server's URL.
func Bucket(t testing.TB) (name, endpoint string) {
	t.Helper()
	testenv.Need(t, "an S3 server")
	shared.once.Do(func() { shared.server, shared.err = Start() })
	if shared.err != nil {
		t.Fatalf("no S3 server for the tests: %v", shared.err)
	}
	name = testenv.Of(shared.server.NewBucket()).Must(t)
	return name, shared.server.Endpoint()
}

// Server is a running server.
type Server struct {
	// Secret is the account's secret from the next Run on.
	Secret string
	// ReadOnly makes the server refuse writes, from the next Run on.
	ReadOnly bool

	folder  string
	address string

	process *exec.Cmd    // nil: stopped
	ended   <-chan error // receives the result of the process

	mu      sync.Mutex
	created int // buckets
}

// StartServer starts a server that the test may stop or change. It is removed
// when the test ends.
func StartServer(t testing.TB) *Server {
	t.Helper()
	testenv.Need(t, "an S3 server")
	server := testenv.Of(Start()).Must(t)
	t.Cleanup(server.Remove)
	return server
}

// Start starts a server over a new temporary folder, on a free port.
func Start() (*Server, error) {
	folder, err := os.MkdirTemp("", "s3test")
	if err != nil {
		return nil, err
	}
	port, err := testenv.FreePort()
	if err != nil {
		return nil, err
	}
	s := &Server{Secret: SecretKey, folder: folder, address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	if err := s.Run(); err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

// Endpoint returns the URL of the server.
func (s *Server) Endpoint() string { return "http://" + s.address }

// Run starts the server, also after Stop, and waits until it responds.
func (s *Server) Run() error {
	program, err := testenv.Tool(module)
	if err != nil {
		return err
	}
	args := []string{"--address", s.address, "--region", Region}
	if s.ReadOnly {
		args = append(args, "--readonly")
	}
	cmd := exec.Command(program, append(args, s.folder)...)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+s.Secret)
	ended, err := testenv.StartServer(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	s.process, s.ended = cmd, ended
	deadline := time.Now().Add(startTimeout)
	for {
		response, err := http.Get(s.Endpoint())
		if err == nil {
			return response.Body.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server does not respond: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// startTimeout is how long a server may take to start. Only a test that fails
// waits that long.
const startTimeout = 3 * time.Minute

// Stop kills the server.
func (s *Server) Stop() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		<-s.ended
		s.process = nil
	}
}

// Remove stops the server and deletes its data.
func (s *Server) Remove() {
	s.Stop()
	_ = os.RemoveAll(s.folder)
}

// NewBucket creates an empty bucket and returns its name.
func (s *Server) NewBucket() (string, error) {
	s.mu.Lock()
	s.created++
	name := fmt.Sprintf("test-%d", s.created)
	s.mu.Unlock()
	client, err := minio.New(s.address, &minio.Options{
		Creds: credentials.NewStaticV4(AccessKey, SecretKey, ""), Region: Region,
	})
	if err != nil {
		return "", err
	}
	return name, client.MakeBucket(context.Background(), name, minio.MakeBucketOptions{Region: Region})
}
