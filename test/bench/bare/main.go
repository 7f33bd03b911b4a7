// Command bare is a minimal HTTP server: it answers every request with a given number of bytes of JSON. It is
// the baseline for how soon a program can answer after its start.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
)

func main() {
	size := flag.Int("bytes", 1000, "size of an answer")
	flag.Parse()
	if err := serve(*size); err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

func serve(size int) error {
	const head, tail = `{"jsonrpc":"2.0","id":1,"result":{"text":"`, `"}}`
	answer := []byte(head + strings.Repeat("a", max(0, size-len(head)-len(tail))) + tail)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening http://%s/mcp\n", l.Addr())
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer)
	}))
}
