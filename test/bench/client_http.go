package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"net/url"
	"strconv"
)

// endpoint is an MCP server's URL.
type endpoint struct {
	url   string
	token string // empty: send none
}

// httpClient is one keep-alive connection, implemented without net/http: one write per request, then reads
// until the answer is complete.
type httpClient struct {
	conn    net.Conn
	r       *bufio.Reader
	era     era
	common  string // header fields of every request
	session string
	head    []byte // head of the prepared request, up to the value of Content-Length
	frame   frame
	id      int
	out     []byte
	in      []byte
	body    []byte
}

// dialHTTP connects to an endpoint and, in the legacy era, opens a session.
func dialHTTP(ctx context.Context, at endpoint, e era) (*httpClient, error) {
	u, err := url.Parse(at.url)
	if err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	c := &httpClient{conn: conn, r: bufio.NewReaderSize(conn, 64<<10), era: e}
	c.common = " " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\n"
	if at.token != "" {
		c.common += "Authorization: Bearer " + at.token + "\r\n"
	}
	if e == legacy {
		err = c.initializeSession()
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("%s: %w", at.url, err)
	}
	return c, nil
}

// initializeSession does the initialize handshake. Later requests name the session and its version.
func (c *httpClient) initializeSession() error {
	c.prepare(initializeRequest)
	msg, err := c.call()
	if err != nil {
		return err
	}
	version, err := agreedVersion(msg)
	if err != nil {
		return err
	}
	c.common += "Mcp-Session-Id: " + c.session + "\r\nMCP-Protocol-Version: " + version + "\r\n"
	c.prepare(request{method: "notifications/initialized"})
	if err := c.send(initialized); err != nil {
		return err
	}
	_, err = c.receive()
	return err
}

func (c *httpClient) prepare(r request) {
	head := "POST" + c.common + "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
	if c.era == modern {
		head += "MCP-Protocol-Version: " + string(modern) + "\r\nMcp-Method: " + r.method + "\r\n"
		if r.name != "" {
			head += "Mcp-Name: " + r.name + "\r\n"
		}
	}
	c.head = []byte(head + "Content-Length: ")
	c.frame = c.era.frame(r)
}

func (c *httpClient) call() ([]byte, error) {
	c.id++
	c.body = c.frame.append(c.body[:0], c.id)
	if err := c.send(c.body); err != nil {
		return nil, err
	}
	msg, err := c.receive()
	if err != nil {
		return nil, err
	}
	return resultOf(msg, c.id)
}

func (c *httpClient) send(body []byte) error {
	c.out = strconv.AppendInt(append(c.out[:0], c.head...), int64(len(body)), 10)
	c.out = append(append(c.out, "\r\n\r\n"...), body...)
	_, err := c.conn.Write(c.out)
	return err
}

// answer holds the fields of an answer's header that the client needs.
type answer struct {
	status  string
	length  int
	chunked bool
	stream  bool
}

// receive reads an answer and returns its body, or the response in it if it is a stream.
func (c *httpClient) receive() ([]byte, error) {
	a, err := c.readHeader()
	if err != nil {
		return nil, err
	}
	if err := c.readBody(a); err != nil {
		return nil, err
	}
	if a.status != "200" && a.status != "202" && a.status != "204" {
		return nil, fmt.Errorf("status %s: %.300q", a.status, c.in)
	}
	if !a.stream {
		return c.in, nil
	}
	for line := range bytes.Lines(c.in) {
		if msg, ok := bytes.CutPrefix(line, []byte("data: ")); ok && isResponseTo(msg, c.id) {
			return msg, nil
		}
	}
	return nil, fmt.Errorf("no response to request %d in the stream", c.id)
}

// readHeader reads the status line and the header fields of an answer.
func (c *httpClient) readHeader() (a answer, err error) {
	for first := true; ; first = false {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return a, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if first {
			a.status = string(line[len("HTTP/1.1 "):][:3])
			continue
		}
		if len(line) == 0 {
			return a, nil
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) { // as net/http writes them
		case "Content-Length":
			a.length, err = strconv.Atoi(string(value))
		case "Transfer-Encoding":
			a.chunked = string(value) == "chunked"
		case "Content-Type":
			a.stream = bytes.HasPrefix(value, []byte("text/event-stream"))
		case "Mcp-Session-Id":
			c.session = string(value)
		}
		if err != nil {
			return a, err
		}
	}
}

// readBody reads a body into c.in.
func (c *httpClient) readBody(a answer) (err error) {
	if a.chunked {
		b := bytes.NewBuffer(c.in[:0])
		_, err = b.ReadFrom(httputil.NewChunkedReader(c.r))
		c.in = b.Bytes()
		if err == nil { // the reader leaves the line after the last chunk
			_, err = c.r.ReadSlice('\n')
		}
		return err
	}
	if cap(c.in) < a.length {
		c.in = make([]byte, a.length)
	}
	c.in = c.in[:a.length]
	_, err = io.ReadFull(c.r, c.in)
	return err
}

// close ends the session and hangs up.
func (c *httpClient) close() error {
	defer c.conn.Close()
	if c.session == "" {
		return nil
	}
	if _, err := c.conn.Write([]byte("DELETE" + c.common + "\r\n")); err != nil {
		return err
	}
	_, err := c.receive()
	return err
}
