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
	"collie/test/await"
)

// Changes of lists are gathered for 250 ms; all other notices are sent at once.
func TestNoticesAreGathered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := tooltest.NewFake("one", tooltest.Offer("one"))
		c := openCatalog(t, source.Options{}, fake)
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
			await.Sleep(10 * time.Millisecond)
		}
		fake.Publish(tooltest.Offer("one", tooltest.Action("y")), tool.PromptsChanged)
		fake.Report(tool.Change{Kind: tool.LogMessage})
		await.Sleep(time.Second)
		fake.Publish(tooltest.Offer("one"), tool.ToolsChanged)
		await.Sleep(time.Second)
		stop()
		mu.Lock()
		defer mu.Unlock()
		checkEqual(t, "told", told, []string{"log 100ms", "tools 250ms", "prompts 250ms", "tools 1.35s"})
	})
}

// Watchers hear one change at a time, even when several goroutines report changes, and nothing after their stop
// function has returned.
func TestNoticesAreSerial(t *testing.T) {
	t.Parallel()
	one, two := tooltest.NewFake("one", tool.Offer{}), tooltest.NewFake("two", tool.Offer{})
	c := openCatalog(t, source.Options{Quiet: time.Millisecond}, one, two)
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
					f.Report(tool.Change{Kind: tool.LogMessage})
					f.Report(tool.Change{Kind: tool.ToolsChanged})
				}
			})
		}
		await.Until(t, "a change is told on", func() bool {
			wg.Go(func() { one.Report(tool.Change{Kind: tool.Notice}) })
			return calls.Load() > 0
		})
		stop()
		over.Store(true)
		wg.Wait()
	}
}

// AwaitKnown waits for sources that are starting until its context ends. It does not wait for sources that already
// know their offers of the kind.
func TestAwaitKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		quick, slow := tooltest.NewStarting("quick"), tooltest.NewStarting("slow")
		c := openCatalog(t, source.Options{}, tooltest.NewFake("one", tooltest.Offer("one", tooltest.Action("x"))), quick, slow)
		time.AfterFunc(500*time.Millisecond, func() { quick.Publish(tooltest.Offer("quick", tooltest.Action("x"))) })
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		c.AwaitKnown(ctx, tool.ListTools)
		checkEqual(t, "waited", time.Since(begin), 2*time.Second)
		checkEqual(t, "tools", listedNames(t, c, tool.ListTools, ""), []string{"one__x", "quick__x"})
		slow.Fail()
		c.AwaitKnown(t.Context(), tool.ListTools)
		c.AwaitKnown(t.Context(), tool.ListPrompts)
		checkEqual(t, "waited", time.Since(begin), 2*time.Second)
	})
}

// behind is a source that knows its tools at once, and its other lists when rest is closed.
type behind struct {
	*tooltest.Fake

	rest chan struct{}
}

func (b behind) Ready(kind tool.ListKind) <-chan struct{} {
	if kind == tool.ListTools {
		return b.Fake.Ready(kind)
	}
	return b.rest
}

// A list of tools does not wait for prompts. A list of prompts, and a prompt asked for by name, do.
func TestAwaitKnownByKind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := behind{tooltest.NewFake("one", tooltest.Offer("one", tooltest.Action("x"))), make(chan struct{})}
		c := openCatalog(t, source.Options{}, src)
		begin := time.Now()
		c.AwaitKnown(t.Context(), tool.ListTools)
		checkEqual(t, "waited for the tools", time.Since(begin), 0)
		time.AfterFunc(3*time.Second, func() {
			offer := tooltest.Offer("one", tooltest.Action("x"))
			offer.Prompts = []tool.Prompt{tooltest.Prompt("p")}
			src.Publish(offer)
			close(src.rest)
		})
		call := tool.Request{Kind: tool.KindPrompt, Name: "one__p"}
		if _, err := c.Resolve(t.Context(), call); err != nil {
			t.Errorf("a prompt whose list is on its way: %v", err)
		}
		checkEqual(t, "waited for the prompts", time.Since(begin), 3*time.Second)
	})
}

// A call of a tool of a server that is still starting waits for that server, and for no
// other.
func TestResolveWaitsForTheOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		late, never := tooltest.NewStarting("late"), tooltest.NewStarting("never")
		defer never.Fail()
		c := openCatalog(t, source.Options{}, never, late, tooltest.NewFake("one", tooltest.Offer("one", tooltest.Action("x"))))
		begin := time.Now()
		if _, err := c.Resolve(t.Context(), toolCall("one__x", "{}")); err != nil || time.Since(begin) > 0 {
			t.Errorf("a tool that is there: %v after %v", err, time.Since(begin))
		}
		time.AfterFunc(10*time.Second, func() {
			offer := tooltest.Offer("late", tooltest.Action("x"))
			offer.Resources = []tool.Resource{tooltest.Resource("late://x")}
			late.Publish(offer)
		})
		if call, err := c.Resolve(t.Context(), toolCall("late__x", "{}")); err != nil || call.Source != tool.Source(late) {
			t.Errorf("a tool of a server that starts: %v", err)
		}
		checkEqual(t, "waited", time.Since(begin), 10*time.Second)
		if _, err := c.Resolve(t.Context(), toolCall("nobody__x", "{}")); tool.KindOf(err) != tool.NotFound {
			t.Errorf("nobody__x: %v", err)
		}
		checkEqual(t, "waited for nobody", time.Since(begin), 10*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Resolve(ctx, toolCall("never__x", "{}")); tool.KindOf(err) != tool.NotFound {
			t.Errorf("never__x: %v", err)
		}
		checkEqual(t, "waited longer than the caller", time.Since(begin), 11*time.Second)
	})
}

// The URI of a resource does not tell its owner, so a read waits for all starting sources, as a list does.
func TestReadWaitsForStarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		late := tooltest.NewStarting("late")
		c := openCatalog(t, source.Options{}, tooltest.NewFake("any", tool.Offer{ReadsAny: true}), late)
		time.AfterFunc(time.Second, func() {
			late.Publish(tool.Offer{Resources: []tool.Resource{tooltest.Resource("late://x")}})
		})
		begin := time.Now()
		if _, err := resolveAndRun(t.Context(), c, readRequest("late://x")); err != nil {
			t.Error(err)
		}
		checkEqual(t, "waited", time.Since(begin), time.Second)
	})
}

// A notice reports for each profile whether its clients may hold an outdated list: whether it has changed since
// they listed or were last notified. For lists that no client has requested this is unknown, and a notice is sent.
func TestNoticesSayWhoSeesADifference(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x, y := tooltest.Offer("one", tooltest.Action("x")), tooltest.Offer("one", tooltest.Action("y"))
		fake := tooltest.NewFake("one", x)
		work := map[string]source.Profile{"work": {}}
		c := openCatalog(t, source.Options{Profiles: work}, fake)
		var mu sync.Mutex
		var told []string
		c.Watch(func(ch tool.Change) {
			mu.Lock()
			defer mu.Unlock()
			if ch.Kind == tool.ToolsChanged {
				for _, profile := range []string{"work", "other"} {
					differs := ch.Differs(profile)
					if differs {
						told = append(told, profile)
					}
					if again := ch.Differs(profile); again != differs {
						t.Error("asked twice it says something else")
					}
				}
			}
		})
		after := func(what string, expected ...string) {
			t.Helper()
			await.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			checkEqual(t, what, told, expected)
			told = nil
		}
		list := func(profile string) { listedNames(t, c, tool.ListTools, profile) }
		fake.Publish(x)
		after("nobody listed", "work", "other")
		list("work")
		list("other")
		fake.Publish(x)
		after("the same")
		fake.Publish(y)
		after("another one", "work")
		fake.Publish(y)
		after("told of it already")
		fake.Publish(x)
		list("work")
		after("back before anybody listed", "work")
		fake.Publish(y)
		list("work")
		fake.Publish(x)
		after("back after somebody listed", "work")
		c.Set([]tool.Source{fake}, nil, nil)
		after("the profile is gone", "work")
		fake.Publish(y)
		after("and shows nothing")
		c.Set([]tool.Source{fake}, work, nil)
		after("it is back", "work")
	})
}

// A profile can be asked for by several names, such as "" and "default". A notice reports the same under each.
func TestAChangeIsToldUnderEachNameOfAProfile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := tooltest.NewFake("one", tooltest.Offer("one", tooltest.Action("x")))
		c := openCatalog(t, source.Options{}, fake)
		told := map[string]bool{}
		c.Watch(func(ch tool.Change) {
			if ch.Kind == tool.ToolsChanged {
				for _, profile := range []string{"", "default", "@flat", "default@flat"} {
					told[profile] = ch.Differs(profile)
				}
			}
		})
		for _, profile := range []string{"", "@flat"} {
			c.List(t.Context(), tool.ListTools, profile)
		}
		fake.Publish(tooltest.Offer("one", tooltest.Action("y")))
		await.Sleep(time.Second)
		synctest.Wait()
		checkEqual(t, "told", told, map[string]bool{"": true, "default": true, "@flat": true, "default@flat": true})
	})
}
