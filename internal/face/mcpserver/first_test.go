package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/face/mcpserver"
	"collie/internal/mcp"
	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// A client's first list includes the tools of servers that were never seen before. For a server that hangs it waits
// Options.ListWait in total, however often the client requests lists.
func TestTheFirstListOfASession(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "2026-07-28"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				slow, hung := tooltest.NewStarting("slow"), tooltest.NewStarting("hung")
				defer hung.Fail()
				server := serveStarting(t, slow, hung)
				time.AfterFunc(3*time.Second, func() { slow.Publish(tooltest.Offer("slow", tooltest.Action("x"))) })
				list := newListFunc(t, server, era)
				for i, want := range []struct {
					took  time.Duration
					tools int
				}{{5 * time.Second, 1}, {0, 1}, {0, 1}} {
					began := time.Now()
					if n := list("tools/list"); n != want.tools || time.Since(began) != want.took {
						t.Errorf("list %d: %d tools after %v, want %d after %v", i+1, n, time.Since(began), want.tools, want.took)
					}
				}
				if era != "legacy" {
					return // without sessions, the same name means the same client
				}
				again, began := newListFunc(t, server, era), time.Now()
				hung.Fail()
				if again("tools/list"); time.Since(began) > 0 {
					t.Errorf("a server that has failed was waited for, %v", time.Since(began))
				}
			})
		})
	}
}

// serveStarting returns a face over sources that may still be starting.
func serveStarting(t *testing.T, sources ...tool.Source) *mcpserver.Server {
	t.Helper()
	log, err := audit.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	catalog := source.New(sources, source.Options{})
	server := mcpserver.New(pipeline.New(catalog, pipeline.Options{Audit: log}), mcpserver.Options{ListWait: 5 * time.Second})
	t.Cleanup(func() {
		server.Close()
		catalog.Close()
		_ = log.Close()
	})
	return server
}

// newListFunc connects a client over lines. It returns a function that sends a list request and counts the
// entries.
func newListFunc(t *testing.T, server *mcpserver.Server, era string) func(method string) int {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() {
		_ = server.ServeLines(t.Context(), toServer, fromServer, toServer.Close, mcpserver.Client{Principal: "me", Origin: tool.MCPLocal})
		_ = fromServer.Close()
	})
	c := &client{notifications: make(chan mcp.Message, 100)}
	link := mcp.NewConn(mcp.NewLines(toClient, fromClient, 0, func() error {
		_ = fromClient.Close()
		return toClient.Close()
	}), c, nil)
	session, err := mcp.Connect(t.Context(), link, mcp.ClientOptions{Info: json.RawMessage(`{"name":"c","version":"1"}`), Protocol: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = link.Close()
		serving.Wait()
	})
	return func(method string) int {
		raw, err := session.Request(context.Background(), method, nil)
		if err != nil {
			t.Fatal(err)
		}
		var v struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		return len(v.Tools)
	}
}
