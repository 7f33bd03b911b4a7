package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"collie/internal/mcp"
)

// instantService is a Service that answers at once.
type instantService struct{}

func (instantService) Hello(context.Context, *mcp.Peer) mcp.Hello {
	return mcp.Hello{Info: json.RawMessage("{}"), Capabilities: json.RawMessage("{}")}
}

func (instantService) Handle(context.Context, *mcp.Incoming) (json.RawMessage, error) {
	return json.RawMessage(`{"content":[]}`), nil
}
func (instantService) Notified(*mcp.Peer, mcp.Message) {}
func (instantService) Opened(*mcp.Peer)                {}
func (instantService) Closed(*mcp.Peer)                {}

// BenchmarkServeStream measures a call over pipes. Its baseline sends the same lines through the same pipes
// without parsing them.
func BenchmarkServeStream(b *testing.B) {
	in, toServer, err1 := os.Pipe()
	fromServer, out, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		b.Fatal(err)
	}
	answers := bufio.NewReader(fromServer)
	round := func(text []byte) {
		if _, err := toServer.Write(text); err != nil {
			b.Fatal(err)
		}
		if _, err := answers.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	call := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{}}}` + "\n")
	answer := []byte(`{"jsonrpc":"2.0","id":7,"result":{"content":[]}}` + "\n")
	lines := bufio.NewReader(in)
	echoes := make(chan struct{})
	const warm = 2000
	go func() { // the baseline
		defer close(echoes)
		for range warm {
			if _, err := lines.ReadSlice('\n'); err != nil {
				return
			}
			_, _ = out.Write(answer)
		}
	}()
	begun := time.Now()
	for range warm {
		round(call)
	}
	floor := time.Since(begun) / warm
	<-echoes
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.ServeStream(context.Background(), mcp.NewLines(in, out, 0, in.Close), instantService{}, nil)
	}()
	round([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}` + "\n"))
	b.ReportAllocs()
	for b.Loop() {
		round(call)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(floor), "×floor")
	_ = toServer.Close()
	if err := <-ended; err != nil {
		b.Error(err)
	}
	_ = out.Close()
}
