package lazyregexp_test

import (
	"sync"
	"testing"

	"collie/internal/lazyregexp"
)

func TestIsCompiledForAll(t *testing.T) {
	t.Parallel()
	re := lazyregexp.New(`(\w+)@(\w+)`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := re.ReplaceAllString("a@b c@d", "$2@$1"); got != "b@a d@c" {
				t.Errorf("got %q", got)
			}
		})
	}
	all.Wait()
}

// In a test, New panics on an invalid expression instead of leaving it for the first user to hit.
func TestWrongOneIsFoundByTests(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an expression with an open group was taken")
		}
	}()
	lazyregexp.New(`(`)
}
