package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/tool"
	"collie/test/await"
)

// newCall returns a call of echo by a client that found s in the list.
func newCall(s *Server) *tool.Call {
	return &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Name: "m__echo"},
		Target:  "echo", Args: json.RawMessage(`{}`), Source: s, Action: &s.Offer().Tools[0].Actions[0],
	}
}

// A reload replaces a server after a call has found it in the list. The call waits for the start of the new server,
// whether it was about to run or was waiting for the old server's start.
func TestCallsOutliveAReplacedServer(t *testing.T) {
	t.Parallel()
	for _, waiting := range []bool{false, true} {
		t.Run(fmt.Sprintf("waiting %v", waiting), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{tool: "echo"}
				set, done := newReloadableSet(t, m, Options{}, newSpec(t, "m", fmt.Sprintf(plain, `,"idleTimeout":"1m"`)))
				defer done()
				was := set.Server("m")
				call := newCall(was)
				if waiting {
					waitAnHour() // it stops
				}
				m.hold = make(chan struct{})
				errs := make(chan error, 3)
				run := func() {
					_, err := was.Run(t.Context(), call)
					errs <- err
				}
				calls := 2
				if waiting {
					calls++
					go run() // its end is awaited below
					synctest.Wait()
				}
				set.Apply([]Spec{newSpec(t, "m", fmt.Sprintf(plain, `,"idleTimeout":"1m","env":{"A":"b"}`))})
				synctest.Wait()
				go run()
				go func() {
					_, err := was.Current(t.Context(), call)
					errs <- err
				}()
				await.Sleep(time.Second)
				if len(errs) > 0 {
					t.Fatalf("a call did not wait: %v", <-errs)
				}
				close(m.hold)
				for range calls {
					if err := <-errs; err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

// If no server has taken the old one's place, or its tool has changed, the call fails and says so: no tool runs on a
// decision that was made about another definition.
func TestCallsOfAServerThatHasGone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		now  []string // its settings
		tool string
		kind tool.ErrorKind
		says string
	}{
		"taken out":    {nil, "echo", tool.Removed, "taken out of the settings"},
		"other tool":   {[]string{`,"env":{"A":"b"}`}, "other", tool.Removed, "does not offer this tool"},
		"switched off": {[]string{`,"disabled":true`}, "echo", tool.Disabled, "switched off"},
		"tool off":     {[]string{`,"env":{"A":"b"},"tools":{"exclude":["echo"]}`}, "echo", tool.Unavailable, "changed during the call"},
		"stopping":     {[]string{""}, "echo", tool.Unavailable, "the gateway is stopping"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{tool: "echo"}
				set, done := newReloadableSet(t, m, Options{}, newSpec(t, "m", fmt.Sprintf(plain, "")))
				defer done()
				was := set.Server("m")
				call := newCall(was)
				m.mu.Lock()
				m.tool = test.tool
				m.mu.Unlock()
				var specs []Spec
				for _, more := range test.now {
					specs = append(specs, newSpec(t, "m", fmt.Sprintf(plain, more)))
				}
				set.Apply(specs)
				synctest.Wait()
				if name == "stopping" {
					set.Close(context.Background())
				}
				if _, err := was.Run(t.Context(), call); tool.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.says) {
					t.Errorf("failed with %v", err)
				}
				if n := m.calls.Load(); n != 0 {
					t.Errorf("the server was called %d times", n)
				}
			})
		})
	}
}
