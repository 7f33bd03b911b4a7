package bridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"collie/internal/face/mcpserver/bridge"
	"collie/internal/mcp"
)

// BenchmarkCall alternates calls through the bridge and calls over HTTP without it. "ratio" is the median of
// the former divided by that of the latter.
func BenchmarkCall(b *testing.B) {
	g := newGateway(b, "one")
	through, direct := bridgeCaller(b, g), directCaller(b, g)
	times := [2][]time.Duration{}
	b.ReportAllocs()
	for b.Loop() {
		for way, call := range []func(){through, direct} {
			begun := time.Now()
			call()
			times[way] = append(times[way], time.Since(begun))
		}
	}
	var median [2]float64
	for way := range times {
		slices.Sort(times[way])
		median[way] = float64(times[way][len(times[way])/2].Nanoseconds()) / 1e3
	}
	b.ReportMetric(median[0], "µs/bridge")
	b.ReportMetric(median[1], "µs/direct")
	b.ReportMetric(median[0]/median[1], "ratio")
}

// BenchmarkManyAtOnce measures concurrent calls through one bridge.
func BenchmarkManyAtOnce(b *testing.B) {
	for _, n := range []int{16, 128} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g := newGateway(b, "one")
			say, lines := openPipes(b, g)
			var sent, got int
			for ; sent < n; sent++ {
				say(callFrame(sent + 1))
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := lines.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
				got++
				sent++
				say(callFrame(sent))
			}
			for ; got < sent; got++ {
				if _, err := lines.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func callFrame(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"s__who","arguments":{}}}`+"\n", id)
}

// openPipes opens a session through a bridge on real pipes.
func openPipes(b *testing.B, g *gateway) (say func(string), lines *bufio.Reader) {
	b.Helper()
	in, write := openPipe(b)
	read, out := openPipe(b)
	var wg sync.WaitGroup
	wg.Go(func() {
		err := bridge.Serve(context.Background(), in, out, in.Close, g.address(), bridge.Options{})
		if err != nil {
			b.Error(err)
		}
	})
	b.Cleanup(func() {
		_ = write.Close()
		wg.Wait()
		_ = out.Close()
		_ = read.Close()
	})
	say = func(s string) {
		if _, err := io.WriteString(write, s); err != nil {
			b.Fatal(err)
		}
	}
	lines = bufio.NewReader(read)
	say(initializeRequest + "\n")
	if _, err := lines.ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	say(initializedNotice + "\n")
	return say, lines
}

func openPipe(b *testing.B) (r, w *os.File) {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	return r, w
}

// bridgeCaller opens a session through a bridge, and returns a function that makes one call in it.
func bridgeCaller(b *testing.B, g *gateway) (call func()) {
	say, lines := openPipes(b, g)
	id := 0
	return func() {
		id++
		say(callFrame(id))
		if _, err := lines.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
}

// directCaller opens a session over HTTP without a bridge, and returns a function that makes one call in it.
func directCaller(b *testing.B, g *gateway) (call func()) {
	b.Helper()
	head := http.Header{"Authorization": {"Bearer " + g.key}}
	link := mcp.DialHTTP(g.address().URL, refuseAll{}, &mcp.HTTPOptions{Header: func() http.Header { return head }})
	b.Cleanup(func() { _ = link.Close() })
	c, err := mcp.Connect(b.Context(), link, mcp.ClientOptions{Info: []byte(`{"name":"test","version":"1"}`), Protocol: "2025-11-25"})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	return func() {
		if _, err := c.Call(ctx, &mcp.Request{Method: "tools/call", Params: []byte(`{"name":"s__who","arguments":{}}`)}); err != nil {
			b.Fatal(err)
		}
	}
}

// refuseAll is a client that ignores notifications and refuses requests of the gateway.
type refuseAll struct{}

func (refuseAll) Notification(mcp.Message, any) {}

func (refuseAll) Request(context.Context, mcp.Message, any) (json.RawMessage, error) {
	return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "no"}
}
