package source_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// newResourceSource returns a source that offers resources and can be subscribed to.
func newResourceSource(name string, uris ...string) *tooltest.Fake {
	offer := tooltest.Offer(name)
	offer.Subscribes = true
	for _, uri := range uris {
		offer.Resources = append(offer.Resources, tooltest.Resource(uri))
	}
	return tooltest.NewFake(name, offer)
}

// readRequest returns a client's request to read a resource.
func readRequest(uri string) tool.Request {
	return tool.Request{Kind: tool.KindRead, Name: uri, Args: json.RawMessage("{}")}
}

// A URI belongs to the first source that offers it. The second source's resource gets a URI of ours, which is used to
// read it, to subscribe to it and in its updates.
func TestResourceOfferedTwice(t *testing.T) {
	t.Parallel()
	const uri, alias = "x://a?b=c d", "collie://server/two/x:%2F%2Fa%3Fb=c%20d"
	one, two := newResourceSource("one", uri, uri), newResourceSource("two", uri, "x://only")
	c := openCatalog(t, source.Options{}, one, two)
	checkEqual(t, "resources", listedNames(t, c, tool.ListResources, ""), []string{uri, alias, "x://only"})

	for name, owner := range map[string]*tooltest.Fake{uri: one, alias: two} {
		r, err := resolveAndRun(t.Context(), c, readRequest(name))
		if err != nil {
			t.Fatalf("read %s: %v", name, err)
		}
		checkEqual(t, "uri in the contents", gjson.GetBytes(r.Raw, "contents.0.uri").String(), name)
		if calls := owner.Calls(); len(calls) != 1 || calls[0].Target != uri {
			t.Errorf("read of %s: %s was asked %+v", name, owner.Name(), calls)
		}
	}
	var mu sync.Mutex
	var told []string
	defer c.Watch(func(ch tool.Change) {
		mu.Lock()
		defer mu.Unlock()
		if ch.Kind == tool.ResourceUpdated {
			told = append(told, ch.URI+" "+gjson.GetBytes(ch.Params, "uri").String())
		}
	})()
	for _, name := range []string{uri, alias} {
		if err := c.Subscribe(t.Context(), "", name); err != nil {
			t.Fatal(err)
		}
	}
	two.Touch(uri)
	one.Touch(uri)
	checkEqual(t, "told", told, []string{alias + " " + alias, uri + " " + uri})
}

// No source can answer for our own URIs.
func TestOwnScheme(t *testing.T) {
	t.Parallel()
	bad := newResourceSource("bad", "collie://instructions/good")
	good := tooltest.NewFake("good", tool.Offer{Instructions: "the truth"})
	c := openCatalog(t, source.Options{}, bad, good)
	checkEqual(t, "resources", listedNames(t, c, tool.ListResources, ""), []string{"collie://server/bad/collie:%2F%2Finstructions%2Fgood"})
	r, err := resolveAndRun(t.Context(), c, readRequest("collie://instructions/good"))
	if err != nil || gjson.GetBytes(r.Raw, "contents.0.text").String() != "the truth" {
		t.Errorf("%s %v", r.Raw, err)
	}
}

// A URI that nobody lists is read by the owner of a matching template, else by the first source that knows it. A
// source that cannot be reached does not keep the others from being asked.
func TestUnlistedResource(t *testing.T) {
	t.Parallel()
	contents := func(_ context.Context, c *tool.Call) (tool.Result, error) {
		return tooltest.Contents(c.Target, "found"), nil
	}
	down := func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{}, &tool.Error{Kind: tool.Unavailable, Message: "down"}
	}
	pattern := tooltest.NewFake("pattern", tool.Offer{Templates: []tool.Template{tooltest.Template("item://{id}")}})
	pattern.On("item://7", contents)
	one := tooltest.NewFake("one", tool.Offer{ReadsAny: true})
	one.On("free://b", contents)
	one.On("free://refused", func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{}, tool.NewProtocolError(-32000, "no", nil)
	})
	one.On("free://down", down)
	one.On("free://lost", down)
	two := tooltest.NewFake("two", tool.Offer{ReadsAny: true})
	for _, uri := range []string{"free://a", "free://b", "free://refused", "free://down"} {
		two.On(uri, contents)
	}
	c := openCatalog(t, source.Options{}, pattern, one, two)
	asked := func(uri string) string {
		var by []string
		for _, f := range []*tooltest.Fake{pattern, one, two} {
			for _, call := range f.Calls() {
				if call.Target == uri {
					by = append(by, f.Name())
				}
			}
		}
		return strings.Join(by, " ")
	}
	for uri, tt := range map[string]struct {
		asked string
		kind  tool.ErrorKind
	}{
		"item://7":       {"pattern", ""},
		"free://a":       {"one two", ""},
		"free://b":       {"one", ""},
		"free://refused": {"one", tool.Upstream},
		"free://down":    {"one two", ""},
		"free://lost":    {"one two", tool.Unavailable},
		"free://none":    {"one two", tool.NotFound},
	} {
		_, err := resolveAndRun(t.Context(), c, readRequest(uri))
		if kind := tool.KindOf(err); err != nil && kind != tt.kind || err == nil && tt.kind != "" {
			t.Errorf("read %s: %v, want kind %q", uri, err, tt.kind)
		}
		checkEqual(t, "asked for "+uri, asked(uri), tt.asked)
	}
}

// Subscribers are counted: the source is asked once for all of them, and again after it refused.
func TestSubscriptionsAreCounted(t *testing.T) {
	t.Parallel()
	one := newResourceSource("one", "x://a")
	c := openCatalog(t, source.Options{Profiles: map[string]source.Profile{"other": {}}}, one)
	do := func(f func(context.Context, string, string) error, profile string) {
		t.Helper()
		if err := f(t.Context(), profile, "x://a"); err != nil {
			t.Fatal(err)
		}
	}
	do(c.Subscribe, "")
	do(c.Subscribe, "other")
	do(c.Unsubscribe, "")
	checkEqual(t, "asked", one.Asked(), []string{"subscribe x://a"})
	one.Publish(tooltest.Offer("one"), tool.ResourcesChanged) // no longer listed, but still subscribed to
	do(c.Unsubscribe, "")
	do(c.Unsubscribe, "") // one too many
	checkEqual(t, "asked", one.Asked(), []string{"subscribe x://a", "unsubscribe x://a"})
	if err := c.Subscribe(t.Context(), "", "x://a"); tool.KindOf(err) != tool.NotFound {
		t.Errorf("subscribe to what nobody has: %v", err)
	}

	one.Publish(*newResourceSource("", "x://a").Offer())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				do(c.Subscribe, "")
				do(c.Unsubscribe, "")
			}
		})
	}
	wg.Wait()
	checkEqual(t, "subscribed", one.Subscribed(), nil)
	for i, asked := range one.Asked() {
		if verb := []string{"subscribe ", "unsubscribe "}[i%2]; asked != verb+"x://a" {
			t.Fatalf("request %d is %q: they are out of order", i, asked)
		}
	}
}

// Sources get the most verbose level that any client wants, including sources that have not started yet.
func TestLevels(t *testing.T) {
	t.Parallel()
	one, late := tooltest.NewFake("one", tool.Offer{Logs: true}), tooltest.NewStarting("late")
	defer late.Fail()
	c := openCatalog(t, source.Options{}, one, late)
	for _, step := range []struct{ holder, level string }{
		{"a", "error"}, {"b", "info"}, {"c", "warning"}, {"b", "debug"}, {"b", ""}, {"a", ""}, {"c", ""},
	} {
		if err := c.SetLevel(t.Context(), step.holder, step.level); err != nil {
			t.Fatal(err)
		}
	}
	checkEqual(t, "levels", one.Levels(), []string{"error", "info", "debug", "warning"})
	checkEqual(t, "levels of one that starts", late.Levels(), one.Levels())
	if err := c.SetLevel(t.Context(), "a", "loud"); tool.KindOf(err) != tool.Invalid {
		t.Errorf("level loud: %v", err)
	}
}

// slowToErr is a source that takes until done is closed to set the level error.
type slowToErr struct {
	*tooltest.Fake

	begun, done chan struct{}
}

func (s slowToErr) SetLevel(ctx context.Context, level string) error {
	if level == "error" {
		close(s.begun)
		<-s.done
	}
	return s.Fake.SetLevel(ctx, level)
}

// A source that is told of two levels at the same time ends with the right one.
func TestLevelsAtTheSameTime(t *testing.T) {
	t.Parallel()
	one := slowToErr{tooltest.NewFake("one", tool.Offer{Logs: true}), make(chan struct{}), make(chan struct{})}
	c := openCatalog(t, source.Options{}, one)
	var slow sync.WaitGroup
	slow.Go(func() {
		if err := c.SetLevel(t.Context(), "a", "error"); err != nil {
			t.Error(err)
		}
	})
	<-one.begun
	if err := c.SetLevel(t.Context(), "b", "debug"); err != nil {
		t.Error(err)
	}
	close(one.done)
	slow.Wait()
	checkEqual(t, "levels", one.Levels(), []string{"debug", "error", "debug"})
}

// Instructions are at most 8 KiB: 4 KiB of ours and 500 characters of each source. The full text of a longer one is a
// resource.
func TestInstructions(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("名", 600)
	c := openCatalog(t, source.Options{Instructions: strings.Repeat("ü", 3<<10)},
		tooltest.NewFake("a", tool.Offer{Instructions: "  short\n"}), tooltest.NewFake("b", tool.Offer{Instructions: long}))
	got := c.Instructions("")
	parts := strings.Split(got, "\n\n## ")
	if len(parts) != 3 || len(parts[0]) != 4<<10 || strings.Trim(parts[0], "ü") != "" {
		t.Fatalf("%d parts, the first of %d bytes", len(parts), len(parts[0]))
	}
	checkEqual(t, "a", parts[1], "a\nshort")
	checkEqual(t, "b", parts[2], "b\n"+strings.Repeat("名", 500)+"… (read collie://instructions/b)")
	checkEqual(t, "resources", listedNames(t, c, tool.ListResources, ""), []string{"collie://instructions/b"})
	r, err := resolveAndRun(t.Context(), c, readRequest("collie://instructions/b"))
	if err != nil {
		t.Fatal(err)
	}
	checkEqual(t, "the whole", gjson.GetBytes(r.Raw, "contents.0.text").String(), long)

	var many []tool.Source
	for i := range 40 {
		many = append(many, tooltest.NewFake("s"+string(rune('A'+i)), tool.Offer{Instructions: strings.Repeat("x", 1000)}))
	}
	if n := len(openCatalog(t, source.Options{Instructions: strings.Repeat("y", 9000)}, many...).Instructions("")); n > 8<<10 || n < 7<<10 {
		t.Errorf("%d bytes in all, want nearly and at most 8 KiB", n)
	}
}
