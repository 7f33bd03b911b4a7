package process_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/process"
)

// A Ring keeps the last 500 lines and at most 64 KiB of text, which is always valid UTF-8.
func TestRing(t *testing.T) {
	t.Parallel()
	var r process.Ring
	if got := r.Lines(5); len(got) != 0 {
		t.Errorf("an empty ring has %q", got)
	}
	for i := range 600 {
		r.Add("noise", fmt.Sprint(i))
	}
	if got := r.Lines(0); len(got) != 500 || got[0] != "100" {
		t.Errorf("%d lines from %q, want 500 from 100", len(got), got[0])
	}
	if diff := cmp.Diff([]string{"598", "599"}, r.Lines(2)); diff != "" {
		t.Error(diff)
	}
	e := r.Entries()
	if e[499].Stream != "noise" || e[499].Time.Before(e[0].Time) {
		t.Errorf("last entry = %+v", e[499])
	}
	r.Add("stderr", strings.Repeat("x", 100<<10))
	if got := r.Lines(0); len(got) != 1 || len(got[0]) != 64<<10 {
		t.Errorf("after a huge line: %d lines", len(got))
	}
	r.Add("stderr", "a\xffb")
	if got := r.Lines(0); len(got) != 1 || got[0] != "a\uFFFDb" {
		t.Errorf("lines = %q", got)
	}
}

// A Ring can be read and written by several goroutines.
func TestRingConcurrently(t *testing.T) {
	t.Parallel()
	var r process.Ring
	var adders sync.WaitGroup
	for range 4 {
		adders.Go(func() {
			for range 500 {
				r.Add("stderr", "line")
				if got := r.Lines(3); len(got) == 0 || got[0] != "line" {
					t.Errorf("lines = %q", got)
				}
			}
		})
	}
	adders.Wait()
	if got := len(r.Entries()); got != 500 {
		t.Errorf("%d entries", got)
	}
}
