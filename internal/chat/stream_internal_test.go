package chat

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collie/test/await"
)

// Events of calls may be left out while there is no subscriber. A client that returns within a minute has missed none.
// One that returns later, or with an id from a time without subscribers, starts again.
func TestFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Service{hub: newHub()}
		subscribeAfter := func(after string) (sub *Subscription, kinds string) {
			t.Helper()
			sub, err := s.Subscribe(t.Context(), Filter{}, after)
			if err != nil {
				t.Fatal(err)
			}
			if len(sub.first) == 0 && len(sub.queue) == 0 {
				return sub, ""
			}
			events, err := sub.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				kinds += e.Kind + " "
			}
			return sub, strings.TrimSpace(kinds)
		}
		wantFollowed := func(when string, follows bool) {
			t.Helper()
			if got := s.Followed(); got != follows {
				t.Errorf("%s: followed is %v", when, got)
			}
		}
		wantFollowed("at the start", false)
		unseen := s.Latest()
		one, kinds := subscribeAfter(unseen)
		wantFollowed("with a client", true)
		if kinds != eventReset {
			t.Errorf("a client with an id from before anybody followed begins with %q, not anew", kinds)
		}
		s.Publish("call.started", "", "a", 1)
		last := s.Latest()
		one.Close()
		one.Close() // a second call has no effect
		await.Sleep(resumeTime - time.Second)
		wantFollowed("shortly after it left", true)
		s.Publish("call.done", "", "a", 1)
		two, kinds := subscribeAfter(last)
		if kinds != "call.done" {
			t.Errorf("a client that comes back in time gets %q", kinds)
		}
		last = s.Latest()
		await.Sleep(2 * resumeTime)
		wantFollowed("as long as it is there", true)
		two.Close()
		await.Sleep(resumeTime + time.Second)
		wantFollowed("long after it left", false)
		three, kinds := subscribeAfter(last)
		if kinds != eventReset {
			t.Errorf("a client that comes back late begins with %q, not anew", kinds)
		}
		three.Close()
	})
}
