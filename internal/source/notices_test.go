package source_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// Changes of lists are gathered for 250 ms; everything else is told at once.
func TestNoticesAreGathered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := tooltest.NewFake("one", tooltest.Offer("one"))
		c := open(t, source.Options{}, fake)
		begin := time.Now()
		var mu sync.Mutex
		var told []string
		stop := c.Watch(func(ch tool.Change) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, string(ch.Kind)+" "+time.Since(begin).String())
		})
		for range 10 { // during 100 ms
			fake.Publish(tooltest.Offer("one", tooltest.Action("x")), tool.ToolsChanged)
			time.Sleep(10 * time.Millisecond)
		}
		fake.Publish(tooltest.Offer("one", tooltest.Action("y")), tool.PromptsChanged)
		fake.Tell(tool.Change{Kind: tool.LogMessage})
		time.Sleep(time.Second)
		fake.Publish(tooltest.Offer("one"), tool.ToolsChanged)
		time.Sleep(time.Second)
		stop()
		mu.Lock()
		defer mu.Unlock()
		want(t, "told", told, []string{"log 100ms", "tools 250ms", "prompts 250ms", "tools 1.35s"})
	})
}

// Watchers are called one change after the other, whoever tells it, and never after their
// stop has returned.
func TestNoticesAreSerial(t *testing.T) {
	t.Parallel()
	one, two := tooltest.NewFake("one", tool.Offer{}), tooltest.NewFake("two", tool.Offer{})
	c := open(t, source.Options{Quiet: time.Millisecond}, one, two)
	for range 20 {
		var inside, calls atomic.Int32
		var over atomic.Bool
		stop := c.Watch(func(tool.Change) {
			if inside.Add(1) > 1 || over.Load() {
				t.Error("two calls at once, or one after stop")
			}
			calls.Add(1)
			inside.Add(-1)
		})
		var wg sync.WaitGroup
		for _, f := range []*tooltest.Fake{one, two} {
			wg.Go(func() {
				for range 20 {
					f.Tell(tool.Change{Kind: tool.LogMessage})
					f.Tell(tool.Change{Kind: tool.ToolsChanged})
				}
			})
		}
		for calls.Load() == 0 {
			wg.Go(func() { one.Tell(tool.Change{Kind: tool.Notice}) })
			time.Sleep(time.Millisecond)
		}
		stop()
		over.Store(true)
		wg.Wait()
	}
}

// A list waits for sources that are starting, as long as it is told to and only once.
func TestListWaitsForStarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		quick, slow := tooltest.NewStarting("quick"), tooltest.NewStarting("slow")
		defer slow.Fail()
		wait := source.Options{ListWait: 2 * time.Second}
		c := open(t, wait, tooltest.NewFake("one", tooltest.Offer("one", tooltest.Action("x"))), quick, slow)
		time.AfterFunc(500*time.Millisecond, func() { quick.Publish(tooltest.Offer("quick", tooltest.Action("x"))) })
		begin := time.Now()
		want(t, "tools", names(t, c, tool.ListTools, ""), []string{"one__x", "quick__x"})
		want(t, "waited", time.Since(begin), 2*time.Second)
		names(t, c, tool.ListTools, "")
		want(t, "waited again", time.Since(begin), 2*time.Second)
	})
}

// A list waits no longer than its caller, and not at all when everything has started.
func TestListWaitIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := tooltest.NewStarting("slow")
		c := open(t, source.Options{ListWait: 2 * time.Second}, slow)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begin := time.Now()
		c.List(ctx, tool.ListTools, "")
		want(t, "waited", time.Since(begin), 100*time.Millisecond)
		slow.Publish(tool.Offer{})
		c.List(t.Context(), tool.ListTools, "")
		want(t, "waited", time.Since(begin), 100*time.Millisecond)
	})
}

// A call of a tool of a server that is still starting waits for that server, and for no
// other.
func TestResolveWaitsForTheOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		late, never := tooltest.NewStarting("late"), tooltest.NewStarting("never")
		defer never.Fail()
		c := open(t, source.Options{}, never, late, tooltest.NewFake("one", tooltest.Offer("one", tooltest.Action("x"))))
		begin := time.Now()
		call := toolCall("one__x", "{}")
		if err := c.Resolve(t.Context(), call); err != nil || time.Since(begin) > 0 {
			t.Errorf("a tool that is there: %v after %v", err, time.Since(begin))
		}
		time.AfterFunc(10*time.Second, func() {
			offer := tooltest.Offer("late", tooltest.Action("x"))
			offer.Resources = []tool.Resource{tooltest.Resource("late://x")}
			late.Publish(offer)
		})
		call = toolCall("late__x", "{}")
		if err := c.Resolve(t.Context(), call); err != nil || call.Source != tool.Source(late) {
			t.Errorf("a tool of a server that starts: %v", err)
		}
		want(t, "waited", time.Since(begin), 10*time.Second)
		if err := c.Resolve(t.Context(), toolCall("nobody__x", "{}")); tool.KindOf(err) != tool.Unknown {
			t.Errorf("nobody__x: %v", err)
		}
		want(t, "waited for nobody", time.Since(begin), 10*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Resolve(ctx, toolCall("never__x", "{}")); tool.KindOf(err) != tool.Unknown {
			t.Errorf("never__x: %v", err)
		}
		want(t, "waited for a caller in a hurry", time.Since(begin), 11*time.Second)
	})
}

// The same for a resource, whose URI does not tell its owner: as long as a list waits.
func TestReadWaitsForStarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		late := tooltest.NewStarting("late")
		c := open(t, source.Options{}, tooltest.NewFake("any", tool.Offer{ReadsAny: true}), late)
		time.AfterFunc(time.Second, func() {
			late.Publish(tool.Offer{Resources: []tool.Resource{tooltest.Resource("late://x")}})
		})
		begin := time.Now()
		if _, err := run(t.Context(), c, read("late://x")); err != nil {
			t.Error(err)
		}
		want(t, "waited", time.Since(begin), time.Second)
	})
}
