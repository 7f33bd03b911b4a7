// Command sdkserver is a typical server, built on the official SDK for Go, with the tools echo and big. It
// speaks over stdio, or over HTTP with -http ADDR. The benchmarks measure Collie in front of it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	addr := flag.String("http", "", "serve Streamable HTTP at /mcp of this address")
	stateless := flag.Bool("stateless", false, "keep no sessions, as protocol version 2026-07-28 has it")
	flag.Parse()
	if err := serve(context.Background(), *addr, *stateless); err != nil {
		fmt.Fprintln(os.Stderr, "sdkserver:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, addr string, stateless bool) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdkserver", Version: "1"}, nil)
	add(s, "echo", "Returns text.", `"text":{"type":"string"}`, func(in arguments) string { return in.Text })
	add(s, "big", "Returns so many bytes of text.", `"bytes":{"type":"integer"}`, func(in arguments) string {
		return strings.Repeat("a", in.Bytes)
	})
	if addr == "" {
		return s.Run(ctx, &mcp.StdioTransport{})
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening http://%s/mcp\n", l.Addr())
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless})
	return (&http.Server{Handler: h, ReadHeaderTimeout: time.Minute}).Serve(l)
}

type arguments struct {
	Text  string `json:"text"`
	Bytes int    `json:"bytes"`
}

// add adds a tool that parses its arguments itself, so that the server validates nothing.
func add(s *mcp.Server, name, about, properties string, run func(arguments) string) {
	schema := json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)
	s.AddTool(&mcp.Tool{Name: name, Description: about, InputSchema: schema},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in arguments
			if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: run(in)}}}, nil
		})
}
