package workspace_test

import (
	"fmt"
	"sync"
	"testing"

	"collie/internal/vault/workspace"
)

// TestResultCache checks that a ResultCache keeps the most recently used values and drops others, also with concurrent users.
func TestResultCache(t *testing.T) {
	t.Parallel()
	var cache workspace.ResultCache
	cache.Put("asked for", 0)
	for i := range 100 {
		cache.Put(fmt.Sprint(i), i)
		if cache.Get("asked for").Value != 0 || cache.Get(fmt.Sprint(i)).Value != i {
			t.Fatalf("after %d values: %v, %v", i, cache.Get("asked for"), cache.Get(fmt.Sprint(i)))
		}
	}
	if cache.Get("50").Value != nil {
		t.Error("it keeps everything")
	}
	var users sync.WaitGroup
	for i := range 4 {
		users.Go(func() {
			for k := range 200 {
				cache.Put(fmt.Sprint(i, k%20), k)
				cache.Get(fmt.Sprint(i+1, k%20))
			}
		})
	}
	users.Wait()
}
