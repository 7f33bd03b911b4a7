// Command relay is the minimum between an MCP client over HTTP and a server over stdio: it translates ids,
// and checks, records and limits nothing. Collie's cost is measured relative to it, because a budget in
// microseconds means little without the machine.
//
//	relay PROGRAM [ARGUMENT ...]
//
// With -stream it is the minimum between a client and a model provider: it passes on each piece of an answer as it comes,
// and does nothing else.
//
//	relay -stream URL
package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"collie/internal/process"
)

func main() {
	debug.SetGCPercent(400) // Collie has the same garbage collector setting and the same rule for processors
	var fit *process.Processors
	if os.Getenv("GOMAXPROCS") == "" {
		fit = process.FitProcessors(process.AllowedProcessors() / 2)
	}
	if err := run(context.Background(), fit, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(1)
	}
}

// run serves in front of a URL after "-stream", or else of the server that command starts.
func run(ctx context.Context, fit *process.Processors, command []string) error {
	if command[0] == "-stream" {
		return serve(ctx, stream{fit, command[1]})
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	r := &relay{fit: fit, stdin: stdin, waiting: map[int]chan []byte{}}
	go r.read(bufio.NewReaderSize(stdout, 64<<10)) // ends with the server
	return serve(ctx, r)
}

func serve(ctx context.Context, h http.Handler) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening http://%s/mcp\n", l.Addr())
	return (&http.Server{Handler: h, ReadHeaderTimeout: time.Minute}).Serve(l)
}

// stream passes requests on to an address, and the answers back, each piece as it comes.
type stream struct {
	fit *process.Processors
	to  string
}

// ServeHTTP relays one request, and flushes each piece of the answer to the client.
func (s stream) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	s.fit.Begin()
	on, err := http.NewRequestWithContext(q.Context(), q.Method, s.to, q.Body)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	on.Header = q.Header
	answer, err := http.DefaultTransport.RoundTrip(on)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	w.Header()["Content-Type"] = answer.Header["Content-Type"]
	w.WriteHeader(answer.StatusCode)
	rc, piece := http.NewResponseController(w), make([]byte, 4<<10)
	for {
		n, err := answer.Body.Read(piece)
		if n > 0 {
			if _, werr := w.Write(piece[:n]); werr != nil || rc.Flush() != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// relay passes the requests of all clients over HTTP on to one server over stdio, under ids of its own.
type relay struct {
	fit   *process.Processors
	greet sync.Mutex // one client at a time does the handshake

	mu      sync.Mutex
	stdin   io.Writer
	last    int
	waiting map[int]chan []byte
	hello   []byte // the server's answer to the first initialize, reused for all others
}

// ServeHTTP relays requests. Notifications and other messages do not reach the server.
func (r *relay) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.fit.Begin()
	body, err := readBody(q)
	start, end, ok := findID(body)
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case q.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	case !ok:
		w.WriteHeader(http.StatusAccepted)
	case bytes.Contains(body, []byte(`"method":"initialize"`)):
		w.Header().Set("Mcp-Session-Id", "one-for-all")
		answer(w, r.initialize(body), body[start:end])
	default:
		answer(w, r.ask(body), body[start:end])
	}
}

func readBody(q *http.Request) ([]byte, error) {
	body := make([]byte, max(q.ContentLength, 0))
	_, err := io.ReadFull(q.Body, body)
	return body, err
}

func answer(w http.ResponseWriter, msg, id []byte) {
	msg = withID(msg, id)
	w.Header()["Content-Type"] = []string{"application/json"}
	w.Header().Set("Content-Length", strconv.Itoa(len(msg)))
	_, _ = w.Write(msg)
}

func (r *relay) initialize(body []byte) []byte {
	r.greet.Lock()
	defer r.greet.Unlock()
	if r.hello == nil {
		r.hello = r.ask(body)
		_, _ = io.WriteString(r.stdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	}
	return r.hello
}

// ask sends a request with a new id and waits for the response.
func (r *relay) ask(body []byte) []byte {
	ch := make(chan []byte, 1)
	r.mu.Lock()
	r.last++
	r.waiting[r.last] = ch
	_, _ = r.stdin.Write(append(withID(body, strconv.AppendInt(nil, int64(r.last), 10)), '\n'))
	r.mu.Unlock()
	return <-ch
}

// read delivers responses until the server ends.
func (r *relay) read(lines *bufio.Reader) {
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			os.Exit(0) // without the server there is nothing to relay
		}
		start, end, ok := findID(line)
		if !ok {
			continue
		}
		id, _ := strconv.Atoi(string(line[start:end]))
		r.mu.Lock()
		ch := r.waiting[id]
		delete(r.waiting, id)
		r.mu.Unlock()
		if ch != nil {
			ch <- bytes.TrimSuffix(line, []byte("\n"))
		}
	}
}

// findID finds the id of a message, which all programs of the benchmark write at the same place.
func findID(msg []byte) (start, end int, ok bool) {
	const key = `"id":`
	i := bytes.Index(msg[:min(len(msg), 64)], []byte(key))
	if i < 0 {
		return 0, 0, false
	}
	start = i + len(key)
	for end = start; end < len(msg) && msg[end] >= '0' && msg[end] <= '9'; end++ {
	}
	return start, end, end > start
}

func withID(msg, id []byte) []byte {
	start, end, _ := findID(msg)
	out := make([]byte, 0, len(msg)+len(id)+1)
	return append(append(append(out, msg[:start]...), id...), msg[end:]...)
}
