// Command ceiling answers every request with one and the same answer, by a bare
// net/http handler: the most that a service in Go can reach with such an answer.
// The answer comes over standard input, as HTTP has it; the address goes to
// standard output.
//
// It must not know what the answer is of.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ceiling:", err)
		os.Exit(1)
	}
}

func run() error {
	answer, err := http.ReadResponse(bufio.NewReader(os.Stdin), nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Println("listens on http://" + listener.Addr().String()); err != nil {
		return err
	}
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		for name, values := range answer.Header {
			header[name] = values
		}
		w.WriteHeader(answer.StatusCode)
		// The client may be gone; there is nobody left to tell.
		_, _ = w.Write(body)
	}))
}
