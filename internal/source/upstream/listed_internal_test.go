package upstream

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
	"collie/test/await"
)

// listAndWait lists the tools of s as a client does and waits for the background work that follows. It returns the first
// tool's name.
func listAndWait(s *Server) (first string) {
	if tools := s.Offer().Tools; len(tools) > 0 && len(tools[0].Actions) > 0 {
		first = tools[0].Actions[0].Name
	}
	s.Listed(tool.ListTools, func() bool { return false })
	await.Sleep(time.Second)
	synctest.Wait()
	return first
}

// When clients list a running server's tools past their lifetime, the server is asked for them again, once however
// many clients list, and differences are announced.
func TestOldListsAreAskedForAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"lifecycle":"keepalive"`))
		defer done()
		if err := callEchoTool(s); err != nil {
			t.Fatal(err)
		}
		var told []tool.ChangeKind
		defer s.Watch(func(ch tool.Change) { told = append(told, ch.Kind) })()
		began := m.lists.Load()
		m.mu.Lock()
		m.tool = "other"
		m.mu.Unlock()
		await.Sleep(4 * time.Minute)
		if listAndWait(s); m.lists.Load() != began {
			t.Error("a list within its lifetime is asked for again")
		}
		await.Sleep(2 * time.Minute)
		for range 5 {
			s.Listed(tool.ListTools, nil)
			s.Listed(tool.ListPrompts, nil)
		}
		if was := listAndWait(s); was != "echo" || listAndWait(s) != "other" {
			t.Errorf("the list shows %s at once, want echo, and other after that", was)
		}
		if n := m.lists.Load() - began; n != 1 || len(told) != 1 || told[0] != tool.ToolsChanged {
			t.Errorf("asked %d times, told of %v; want once each", n, told)
		}
	})
}

// A remote server without a connection is connected to when clients list its outdated tools. If it fails, it is tried
// ever less often, however often clients list. No process is started for a list.
func TestOldListsOfServersThatDoNotRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entry       string
		refuse      bool
		names       []string // the argument of Set.Start; nil means all, as in a gateway
		least, most int64    // starts in two hours in which it is listed each second
	}{
		"remote":               {entry: `{"url":"http://m.test/mcp"}`, least: 2, most: 24},
		"remote, it fails":     {entry: `{"url":"http://m.test/mcp"}`, refuse: true, least: 2, most: 6},
		"remote, lazy":         {entry: `{"url":"http://m.test/mcp","lifecycle":"lazy"}`},
		"remote, no gateway":   {entry: `{"url":"http://m.test/mcp"}`, names: []string{}},
		"remote, switched off": {entry: `{"url":"http://m.test/mcp","disabled":true}`},
		"process":              {entry: fmt.Sprintf(plain, "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{}
				m.refuse.Store(tt.refuse)
				spec := newSpec(t, "m", tt.entry)
				o := Options{Key: make([]byte, 32)}
				o.Cache = toolcache.Open(t.Context(), toolcache.Options{Key: o.Key})
				defer o.Cache.Close()
				e := newCacheEntry(t, spec, o, "echo")
				e.Transport = string(spec.Entry.Transport)
				o.Cache.Store("m", e)
				await.Sleep(time.Millisecond)
				set := newPlayedSet(t, m, o, spec)
				defer set.Close(context.Background())
				set.Start(tt.names)
				<-set.Started()
				for range 2 * 60 * 60 {
					listAndWait(set.servers[0])
				}
				if n := m.starts.Load(); n < tt.least || n > tt.most {
					t.Errorf("%d starts, want %d to %d", n, tt.least, tt.most)
				}
			})
		})
	}
}
