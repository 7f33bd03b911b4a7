package pins_test

import (
	"path/filepath"
	"testing"
	"time"

	"collie/internal/source/upstream/pins"
)

// Changes written by another process are noticed at once, without waiting for the next poll.
func TestNoticesTellOfAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pins.json")
	one := pins.Open(path, hash, pins.Options{Poll: time.Hour})
	two := pins.Open(path, hash, pins.Options{Collect: time.Millisecond})
	told := make(chan string, 100)
	stop := one.Watch(func(server string) { told <- server })
	for _, server := range []string{"a", "b", "c"} { // each write puts another file in the place of the one before
		two.Check(server, rawDefinitions(search), true)
		for heard := false; !heard; {
			select {
			case name := <-told:
				heard = name == server
			case <-time.After(10 * time.Second):
				t.Fatalf("nobody was told of %s", server)
			}
		}
	}
	stop()
	_, _ = one.Close(), two.Close()
}
