package testenv

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// TestRefusingAddress connects to an address that refuses connections, and cannot listen
// there.
func TestRefusingAddress(t *testing.T) {
	address := RefusingAddress(t)
	if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("connect: error %v", err)
	}
	if listener, err := net.Listen("tcp", address); err == nil {
		_ = listener.Close()
		t.Error("another socket listens there")
	}
}

// TestFreeAddress listens at many addresses at the same time.
func TestFreeAddress(t *testing.T) {
	for range 100 {
		listener, err := net.Listen("tcp", FreeAddress(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
	}
}
