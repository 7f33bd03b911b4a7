package upstream_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"collie/internal/mcp/mcptest"
	"collie/internal/source/upstream"
	"collie/test/await"
)

// Sets that are closed at rest, during a call or during a start leave no goroutines or descriptors behind.
//
//nolint:paralleltest // it counts what the process has open
func TestSetsLeaveNothingBehind(t *testing.T) {
	url := mcptest.StartHTTP(t, "--era", "both")
	entries := []string{
		stdioEntry(t), stdioEntry(t, "--era", "modern"), `{"url":"` + url + `"}`, `{"url":"` + url + `","protocol":"legacy"}`,
		stdioEntry(t, "--never-answer"), stdioEntry(t, "--exit-code", "1"), `{"command":"no-such-command"}`, `{"url":"http://127.0.0.1:1/mcp"}`,
	}
	round := func(wait bool) {
		set := newSet(t, entries...)
		set.Start(nil)
		var calls sync.WaitGroup
		if wait {
			for _, s := range set.Servers()[:4] {
				<-s.Started()
				if err := s.Subscribe(t.Context(), "fake://static/hello"); err != nil {
					t.Error(err)
				}
				calls.Go(func() { _, _ = s.Run(t.Context(), newToolCall("hang", "{}")) }) // ends with the set
			}
			await.Moment(20 * time.Millisecond) // for the calls to get there; without them the test is weaker
		}
		closeSet(t, set)
		calls.Wait()
	}
	round(true) // what stays from a first time on is not a leak
	before, running := countDescriptors(), goleak.IgnoreCurrent()
	for i := range 10 {
		round(i%2 == 0)
	}
	runtime.GC()
	// The system closes sockets when it likes.
	await.Until(t, fmt.Sprintf("no more than %d descriptors are open", before), func() bool { return countDescriptors() <= before })
	if err := goleak.Find(running); err != nil {
		t.Error(err)
	}
}

// closeSet closes a set within the time that its servers may take.
func closeSet(t *testing.T, set *upstream.Set) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	set.Close(ctx)
	set.Close(ctx) // twice is harmless
	if ctx.Err() != nil {
		t.Error("the set did not close in time")
	}
}

// countDescriptors returns the number of open descriptors of this process, 0 if the system does not tell.
func countDescriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}
