package await_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collie/test/await"
)

// recorder is a testing.TB that records its failures.
type recorder struct {
	testing.TB
	failed string
}

func (*recorder) Helper()                        {}
func (*recorder) Logf(string, ...any)            {}
func (n *recorder) Fatal(args ...any)            { n.failed = fmt.Sprint(args...) }
func (n *recorder) Fatalf(f string, args ...any) { n.failed = fmt.Sprintf(f, args...) }
func (n *recorder) Errorf(f string, args ...any) { n.failed = fmt.Sprintf(f, args...) }
func (n *recorder) checkFailed(t *testing.T, what string) {
	t.Helper()
	if what == "" && n.failed != "" || !strings.Contains(n.failed, what) {
		t.Errorf("failed with %q, want %q", n.failed, what)
	}
	n.failed = ""
}

func TestAwait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, begun := &recorder{TB: t}, time.Now()
		after := func(d time.Duration) func() bool { return func() bool { return time.Since(begun) >= d } }
		await.Until(n, "a minute passes", after(time.Minute))
		n.checkFailed(t, "")
		await.Until(n, "an hour passes", after(time.Hour))
		n.checkFailed(t, "an hour passes")
		begun = time.Now()
		await.Never(n, time.Second, "a minute has passed", after(time.Minute))
		n.checkFailed(t, "")
		await.Never(n, 2*time.Minute, "a minute has passed", after(time.Minute))
		n.checkFailed(t, "a minute has passed")
		begun = time.Now()
		await.Sleep(time.Hour)
		if took := time.Since(begun); took != time.Hour {
			t.Errorf("an hour took %v", took)
		}
		await.Within(n, "the work", time.Second, time.Minute)
		n.checkFailed(t, "")
		await.Within(n, "the work", time.Hour, time.Minute)
		if want := "the work took 1h0m0s"; !await.Race {
			n.checkFailed(t, want)
		} else {
			n.checkFailed(t, "")
		}
	})
}

func TestSleepOutside(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a test has slept")
		}
	}()
	await.Sleep(0)
}
