// Package tooltest supports tests of faces, the pipeline and sources. [Source] is the test suite that every
// [tool.Source] passes. [Fake] is a source in memory. Tests build a real catalog and a real pipeline over
// fakes; nothing else is mocked.
package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/tool"
)

// Fixture is one source under test, with functions that make it do things. Only Source is required; tests
// that need a nil field are left out.
type Fixture struct {
	Source tool.Source
	// Good returns new calls that the source answers well, of each kind it offers.
	Good func() []*tool.Call
	// Fails returns a new call whose action fails with a result that has IsError.
	Fails func() *tool.Call
	// Refused returns new calls that end in an error instead of a result.
	Refused func() []*tool.Call
	// Hangs returns a new call that does not end by itself.
	Hangs func() *tool.Call
	// Change makes the source change its list of tools, and returns once that is under way.
	Change func()
	// URI is a resource to subscribe to. Touch updates it.
	URI   string
	Touch func()
}

// waitLimit bounds waiting for what should happen soon. It is generous, because the machine may be busy.
const waitLimit = 3 * time.Minute

// Source checks that a source keeps the contract of [tool.Source] and of the optional interfaces it
// implements. open makes a new fixture for each test; it is ready, and t's cleanup closes it.
func Source(t *testing.T, open func(t *testing.T) Fixture) {
	t.Helper()
	parts := []struct {
		name string
		test func(*testing.T, Fixture)
	}{
		{"offer", testOffer},
		{"watch", testWatch},
		{"watch/stop", testStop},
		{"run", testRun},
		{"run/errors", testErrors},
		{"run/context", testContext},
		{"concurrent", testConcurrent},
		{"subscriptions", testSubscriptions},
		{"logger", testLogger},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.test(t, open(t)) })
	}
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func testOffer(t *testing.T, f Fixture) {
	name := f.Source.Name()
	if s, ok := f.Source.(tool.Refresher); ok && s.Ready(tool.ListTools) != nil {
		awaitClosed(t, s.Ready(tool.ListTools), "its tools")
		awaitClosed(t, s.Ready(tool.ListResources), "its other lists")
	}
	offer := f.Source.Offer()
	if name == "" || offer == nil {
		t.Fatalf("name %q, offer %v: want both", name, offer)
	}
	if f.Source.Offer() != offer {
		t.Error("nothing changed, and Offer returned another pointer")
	}
	checkOffer(t, f.Source, offer)
	if f.Change == nil {
		return
	}
	before := encodeOffer(t, offer)
	w := watch(f.Source)
	defer w.stop()
	f.Change()
	w.await(t, tool.ToolsChanged)
	if f.Source.Name() != name {
		t.Errorf("the name was %q and is %q", name, f.Source.Name())
	}
	if diff := cmp.Diff(before, encodeOffer(t, offer)); diff != "" {
		t.Errorf("an offer that was published has changed (-before +after):\n%s", diff)
	}
}

// encodeOffer returns an offer as JSON, to compare it with what it is later.
func encodeOffer(t *testing.T, offer *tool.Offer) string {
	t.Helper()
	raw, err := json.Marshal(offer)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func checkOffer(t *testing.T, s tool.Source, offer *tool.Offer) {
	t.Helper()
	for _, tl := range offer.Tools {
		if !toolName.MatchString(tl.Name) {
			t.Errorf("tool %q: want a name that matches %s", tl.Name, toolName)
		}
		seen := map[string]bool{}
		for _, a := range tl.Actions {
			if a.Name == "" || seen[a.Name] {
				t.Errorf("tool %s has an action %q, which is empty or there twice", tl.Name, a.Name)
			}
			seen[a.Name] = true
			checkObject(t, "definition of "+a.Name, a.Definition)
			checkObject(t, "schema of "+a.Name, a.InputSchema)
		}
	}
	for _, r := range offer.Resources {
		checkObject(t, "resource "+r.URI, r.Definition)
	}
	for _, r := range offer.Templates {
		checkObject(t, "template "+r.Pattern, r.Definition)
	}
	for _, p := range offer.Prompts {
		checkObject(t, "prompt "+p.Name, p.Definition)
	}
	if _, ok := s.(tool.Peer); offer.Subscribes && !ok {
		t.Error("the offer says Subscribes, and the source is not a tool.Peer")
	}
	if _, ok := s.(tool.Peer); offer.Logs && !ok {
		t.Error("the offer says Logs, and the source is not a tool.Peer")
	}
}

func checkObject(t *testing.T, what string, raw json.RawMessage) {
	t.Helper()
	if !json.Valid(raw) || len(raw) == 0 || raw[0] != '{' {
		t.Errorf("%s is not a JSON object: %.80q", what, raw)
	}
}

func testRun(t *testing.T, f Fixture) {
	if f.Good == nil {
		t.Skip("the fixture has no good calls")
	}
	for _, c := range f.Good() {
		before := *c
		r, err := f.Source.Run(t.Context(), c)
		if err != nil {
			t.Errorf("%s %s: %v", c.Kind, c.Target, err)
			continue
		}
		checkObject(t, string(c.Kind)+" of "+c.Target, r.Raw)
		if r.IsError {
			t.Errorf("%s %s: IsError in %s", c.Kind, c.Target, r.Raw)
		}
		if !same(&before, c) {
			t.Errorf("%s %s: Run changed the call", c.Kind, c.Target)
		}
	}
	if f.Fails == nil {
		return
	}
	r, err := f.Source.Run(t.Context(), f.Fails())
	if err != nil || !r.IsError {
		t.Errorf("a failure of the action: IsError %t, error %v; want a result with IsError", r.IsError, err)
	}
	checkObject(t, "a failure", r.Raw)
}

// same reports whether two calls have the same content.
func same(a, b *tool.Call) bool {
	return a.ID == b.ID && a.Kind == b.Kind && a.Name == b.Name && a.Target == b.Target && a.Tool == b.Tool &&
		a.Action == b.Action && a.Source == b.Source && string(a.Args) == string(b.Args) && string(a.Params) == string(b.Params)
}

func testErrors(t *testing.T, f Fixture) {
	if f.Refused == nil {
		t.Skip("the fixture has no calls to refuse")
	}
	for _, c := range f.Refused() {
		_, err := f.Source.Run(t.Context(), c)
		if err == nil {
			t.Errorf("%s %s: no error", c.Kind, c.Target)
			continue
		}
		checkError(t, string(c.Kind)+" "+c.Target, err)
	}
}

// checkError requires that an error is, or wraps, one of the two types that a source may return, because faces decide by
// the type.
func checkError(t *testing.T, what string, err error) {
	t.Helper()
	if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
		checkObject(t, what+": protocol error", e.Raw)
		return
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Errorf("%s: error %v is a %T, want *tool.Error or *tool.ProtocolError", what, err, err)
		return
	}
	if e.Kind == "" {
		t.Errorf("%s: error %v has no kind", what, err)
	}
}

func testContext(t *testing.T, f Fixture) {
	if f.Hangs == nil {
		t.Skip("the fixture has no call that hangs")
	}
	ends := map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancelled before": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		},
		"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(50*time.Millisecond, cancel)
			return ctx, cancel
		},
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 50*time.Millisecond)
		},
	}
	for name, end := range ends {
		ctx, cancel := end(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := f.Source.Run(ctx, f.Hangs())
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s: a call that hangs gave a result", name)
			} else {
				checkError(t, name, err)
			}
		case <-time.After(waitLimit):
			t.Errorf("%s: Run goes on after its context", name)
		}
		cancel()
	}
}

func testConcurrent(t *testing.T, f Fixture) {
	if f.Good == nil {
		t.Skip("the fixture has no good calls")
	}
	if f.Hangs != nil { // a call that hangs must not block others
		ctx, cancel := context.WithCancel(t.Context())
		var hung sync.WaitGroup
		defer hung.Wait()
		defer cancel()
		hung.Go(func() { _, _ = f.Source.Run(ctx, f.Hangs()) })
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for _, c := range f.Good() {
					if _, err := f.Source.Run(t.Context(), c); err != nil {
						t.Errorf("%s %s: %v", c.Kind, c.Target, err)
					}
				}
			})
			wg.Go(func() {
				for range 20 {
					stop := f.Source.Watch(func(tool.Change) {})
					if f.Source.Offer() == nil || f.Source.Name() == "" {
						t.Error("no offer or no name")
					}
					stop()
				}
			})
			if f.Change != nil {
				wg.Go(f.Change)
			}
		}
		wg.Wait()
	}()
	awaitClosed(t, done, "calls at the same time as one that hangs")
}

func testLogger(t *testing.T, f Fixture) {
	l, ok := f.Source.(tool.Peer)
	if !ok || !f.Source.Offer().Logs {
		t.Skip("the source does not log")
	}
	for _, level := range []string{"debug", "debug", "emergency"} {
		if err := l.SetLevel(t.Context(), level); err != nil {
			t.Errorf("SetLevel(%s): %v", level, err)
		}
	}
}

// awaitClosed waits until done is closed.
func awaitClosed(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(waitLimit):
		t.Fatalf("not over after %v: %s", waitLimit, what)
	}
}
