package bridge_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"collie/internal/face/mcpserver/bridge"
	"collie/internal/mcp"
	"collie/internal/tool"
)

// A client that reads nothing is given up, and Serve returns the reason. Until then no more answers are
// fetched for it.
func TestClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	begun := make(chan struct{}, 1000)
	text := `{"content":[],"big":"` + strings.Repeat("x", 4<<20) + `"}`
	g.fake.On("who", func(context.Context, *tool.Call) (tool.Result, error) {
		begun <- struct{}{}
		return tool.Result{Raw: []byte(text)}, nil
	})
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended, over := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(over)
		ended <- bridge.Serve(t.Context(), in, out, in.Close, g.address(), bridge.Options{
			Find:  func(context.Context) (bridge.Gateway, error) { return g.address(), nil },
			Open:  func(context.Context) (bridge.Opened, error) { return bridge.Opened{}, errors.New("none") },
			Stall: 2 * time.Second,
		})
		_ = out.Close()
	}()
	calls := 0
	sent := make(chan struct{})
	go func() { // ends when the bridge does
		defer close(sent)
		_, _ = io.WriteString(client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`+"\n")
		for n := range 200 {
			_, _ = fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"s__who","arguments":{}}}`+"\n", n+1)
			select {
			case <-begun:
				calls++
			case <-over:
				return
			}
		}
	}()
	if _, err := bufio.NewReader(answers).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, mcp.ErrNotReading) {
		t.Errorf("ended with %v", err)
	}
	_ = client.Close()
	if <-sent; calls == 200 {
		t.Errorf("%d answers were fetched for a client that reads nothing", calls)
	}
}
