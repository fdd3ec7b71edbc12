package testenv

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports for servers of other projects. Linux gives higher ones to sockets that ask for
// none, so a connection of another test cannot take one before the server does.
const firstPort, lastPort = 10_000, 32_000

var chosenPorts sync.Map // of this process

// FreePort returns a TCP port of 127.0.0.1 for a server that is about to start. No other
// call in this process returns it.
func FreePort() (int, error) {
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if _, chosen := chosenPorts.LoadOrStore(port, true); chosen {
			continue
		}
		listener, err := net.Listen("tcp", addressOf(port))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("no free port from %d to %d", firstPort, lastPort)
}

func addressOf(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// FreeAddress returns an address with a port of FreePort.
func FreeAddress(t testing.TB) string {
	t.Helper()
	port, err := FreePort()
	NoError(t, err)
	return addressOf(port)
}
