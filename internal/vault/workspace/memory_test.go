package workspace_test

import (
	"fmt"
	"sync"
	"testing"

	"collie/internal/vault/workspace"
)

// TestMemory checks that a Memory keeps the most recently used values and drops others, also with concurrent users.
func TestMemory(t *testing.T) {
	t.Parallel()
	var m workspace.Memory
	m.Put("asked for", 0)
	for i := range 100 {
		m.Put(fmt.Sprint(i), i)
		if m.Get("asked for").Value != 0 || m.Get(fmt.Sprint(i)).Value != i {
			t.Fatalf("after %d values: %v, %v", i, m.Get("asked for"), m.Get(fmt.Sprint(i)))
		}
	}
	if m.Get("50").Value != nil {
		t.Error("it keeps everything")
	}
	var users sync.WaitGroup
	for i := range 4 {
		users.Go(func() {
			for k := range 200 {
				m.Put(fmt.Sprint(i, k%20), k)
				m.Get(fmt.Sprint(i+1, k%20))
			}
		})
	}
	users.Wait()
}
