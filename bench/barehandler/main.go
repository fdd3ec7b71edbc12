// Command barehandler sends the same response to every request with a bare
// net/http handler: the maximum rate that a Go service can reach with such a
// response. It reads the response from standard input, in the form of HTTP/1.1,
// and writes its address to standard output.
package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "barehandler:", err)
		os.Exit(1)
	}
}

func run() error {
	response, err := http.ReadResponse(bufio.NewReader(os.Stdin), nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(response.Body)
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
		maps.Copy(w.Header(), response.Header)
		w.WriteHeader(response.StatusCode)
		// A failed write means that the client has disconnected.
		_, _ = w.Write(body)
	}))
}
