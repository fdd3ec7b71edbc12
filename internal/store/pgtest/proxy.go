package pgtest

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"time"
)

// Proxy is a network to a PostgreSQL server.
type Proxy struct {
	// URL is that of the database, through the proxy.
	URL string
	// Trips is how often the server has said that it waits for the next statement.
	Trips    atomic.Int64
	listener net.Listener
	server   string
	delay    time.Duration
}

// StartProxy starts a proxy of the server of a database. A message to the server arrives
// there after a time.
func StartProxy(database string, delay time.Duration) (*Proxy, error) {
	address, err := url.Parse(database)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, server: address.Host, delay: delay}
	address.Host = listener.Addr().String()
	query := address.Query()
	query.Set("sslmode", "disable") // the proxy reads the messages
	address.RawQuery = query.Encode()
	p.URL = address.String()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.relay(client)
		}
	}()
	return p, nil
}

// Close ends the proxy for new connections.
func (p *Proxy) Close() { _ = p.listener.Close() }

// relay connects a client with the server until one of them ends.
func (p *Proxy) relay(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	sent := make(chan packet, 1024)
	go receive(client, p.delay, sent)
	go func() {
		for next := range sent {
			time.Sleep(time.Until(next.arrives))
			_, _ = server.Write(next.content)
		}
		_ = server.Close()
	}()
	p.respond(client, server)
}

// packet is a part of what a client sends.
type packet struct {
	content []byte
	arrives time.Time
}

// receive receives what a client sends until it ends.
func receive(client net.Conn, delay time.Duration, sent chan<- packet) {
	defer close(sent)
	for {
		content := make([]byte, 32<<10)
		n, err := client.Read(content)
		if err != nil {
			return
		}
		sent <- packet{content[:n], time.Now().Add(delay)}
	}
}

// respond passes the messages of a server on and counts those that say that it waits,
// ReadyForQuery.
func (p *Proxy) respond(client io.Writer, server io.Reader) {
	responses := bufio.NewReader(server)
	for {
		header := make([]byte, 5) // the kind of a message, and its length without the kind
		if _, err := io.ReadFull(responses, header); err != nil {
			return
		}
		message := make([]byte, 1+binary.BigEndian.Uint32(header[1:]))
		if _, err := io.ReadFull(responses, message[copy(message, header):]); err != nil {
			return
		}
		if header[0] == 'Z' {
			p.Trips.Add(1)
		}
		if _, err := client.Write(message); err != nil {
			return
		}
	}
}
