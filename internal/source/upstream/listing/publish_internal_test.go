package listing

import (
	"encoding/json"
	"log/slog"
	"runtime"
	"sync"
	"testing"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/pins"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// newListing returns the listing of a server that does not exist, with defaults for the options that o leaves out.
func newListing(t *testing.T, o Options) *Listing {
	t.Helper()
	e, _ := entry.Parse("m", json.RawMessage(`{"command":"true"}`), entry.Options{Dir: "/"})
	none := func() string { return "" }
	o.Name, o.Settings, o.Fingerprint, o.Principal = "m", func() *entry.Entry { return &e }, none, none
	o.Log, o.ServerLog = slog.New(slog.DiscardHandler), serverlog.New(serverlog.Options{})
	if o.Tell == nil {
		o.Tell = func(tool.Change) {}
	}
	o.Life, o.Go = t.Context(), func(f func()) { f() }
	l := New(o)
	t.Cleanup(l.Close)
	return l
}

// openLink is a link that stays open.
type openLink struct{ mcp.Link }

func (openLink) Done() <-chan struct{} { return nil }

// newLists returns lists with one tool of each name.
func newLists(names ...string) *Lists {
	k := &Lists{}
	for _, name := range names {
		k.Tools = append(k.Tools, json.RawMessage(`{"name":"`+name+`","inputSchema":{"type":"object"}}`))
	}
	return k
}

// offeredNames returns the names of the tools that l offers, each with a space after it.
func offeredNames(l *Listing) string {
	names := ""
	for _, a := range l.Offer().Tools[0].Actions {
		names += a.Name + " "
	}
	return names
}

// A late list from an old connection does not replace one from a newer connection. Only the newest open connection
// makes the lists live.
func TestALateListOfAnOldConnection(t *testing.T) {
	t.Parallel()
	l := newListing(t, Options{})
	feed := func() *Feed { return NewFeed(&mcp.Client{Link: openLink{}}, false, nil, nil) }
	before, now := feed(), feed()
	if !l.propose(before, false) || l.propose(now, false) {
		t.Fatal("a second connection takes the place of one that stands")
	}
	l.publishTools(before, newLists("old"))
	l.propose(now, true)
	l.publishTools(now, newLists("new"))
	l.publishTools(before, newLists("late"))
	l.update(before, false, func(k *Lists) { k.Prompts = []json.RawMessage{json.RawMessage(`{"name":"late"}`)} })
	if got := offeredNames(l); got != "new " || len(l.Offer().Prompts) > 0 {
		t.Errorf("it offers the tools %s and %d prompts", got, len(l.Offer().Prompts))
	}
	l.MarkLive(before)
	if l.Live() {
		t.Error("an old connection makes the lists live")
	}
	l.MarkLive(now)
	l.Drop(before)
	if !l.Live() {
		t.Error("the end of an old connection ends the lists of the new one")
	}
	l.Drop(now)
	if l.Live() || offeredNames(l) != "new " {
		t.Errorf("without a connection it is live: %v, and offers %s", l.Live(), offeredNames(l))
	}
}

// Pins that change while new lists are being published do not bring the old lists back.
func TestRecheckDoesNotBringAnOldListBack(t *testing.T) {
	t.Parallel()
	store := pins.Open("", toolcache.ToolHash, pins.Options{})
	defer store.Close()
	l := newListing(t, Options{Pins: store})
	l.Publish(newLists("old"), tool.FreshLive, "")
	l.publishMu.Lock()
	var recheck sync.WaitGroup
	recheck.Go(l.Recheck)
	for range 1000 {
		runtime.Gosched() // it gets as far as it can
	}
	l.publish(newLists("new"), tool.FreshLive, "")
	l.publishMu.Unlock()
	recheck.Wait()
	if got := offeredNames(l); got != "new " {
		t.Errorf("it offers %s after another list was told", got)
	}
}

// Watchers hear only of lists that differ, and an unchanged tool keeps its place in memory.
func TestPublishTellsWhatDiffers(t *testing.T) {
	t.Parallel()
	var told []tool.ChangeKind
	l := newListing(t, Options{Tell: func(ch tool.Change) { told = append(told, ch.Kind) }})
	expect := func(what string, want int) {
		t.Helper()
		if len(told) != want {
			t.Errorf("%s: told %v, want %d changes", what, told, want)
		}
		told = nil
	}
	l.Publish(newLists("a"), tool.FreshHit, "")
	expect("the first list", 1)
	first := &l.Offer().Tools[0].Actions[0]
	l.Publish(newLists("a"), tool.FreshLive, "")
	expect("the same list", 0)
	if &l.Offer().Tools[0].Actions[0] != first {
		t.Error("the tool has moved")
	}
	next := newLists("a")
	next.Prompts = []json.RawMessage{json.RawMessage(`{"name":"p"}`)}
	l.Publish(next, tool.FreshLive, "")
	expect("a prompt", 1)
	if !l.Forget(func() bool { return false }) || l.Lists() != nil || offeredNames(l) != "" {
		t.Errorf("forgotten, it offers %s", offeredNames(l))
	}
	expect("it is forgotten", 2)
	if l.Forget(func() bool { return false }) {
		t.Error("forgotten twice")
	}
}

// A change that is announced while a connection is being opened is not missed if the connection is open by the time
// the lists are fetched.
func TestAChangeAtTheEndOfAStart(t *testing.T) {
	t.Parallel()
	var l *Listing
	f := NewFeed(&mcp.Client{Link: openLink{}}, false, nil, nil)
	l = newListing(t, Options{Starting: func() bool {
		l.Adopt(f)
		return false
	}})
	l.refetch(map[tool.ChangeKind]bool{tool.ToolsChanged: true})
	if l.Lists() == nil {
		t.Error("the lists were not asked for again")
	}
}
