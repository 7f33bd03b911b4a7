package source_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source"
	"collie/internal/tool"
)

// Choices of several processes are merged in one file. A damaged file is reported and replaced.
func TestChosenFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "views.json")
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	v := source.NewChosenFile(path, true, logger)
	if got := v.Load(); len(got) != 0 || log.Len() > 0 {
		t.Errorf("of no file %v is loaded, and the log says %s", got, log.String())
	}
	source.NewChosenFile(path, false, logger).Save("", source.Choice{Budget: 1, Views: map[string]tool.View{"a": tool.Flat}})
	if _, err := os.Stat(path); err == nil {
		t.Error("a command that only looks has written the file")
	}
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		all.Go(func() { v.Save("", source.Choice{Budget: 1, Views: map[string]tool.View{name: tool.Flat}}) })
	}
	all.Wait()
	v.Save("", source.Choice{Budget: 1, Views: map[string]tool.View{"a": tool.Search}})
	v.Save("x", source.Choice{Budget: 2, Views: map[string]tool.View{"a": tool.Grouped}})
	v.Save("x", source.Choice{Budget: 3, Views: map[string]tool.View{"b": tool.Grouped}})
	want := map[string]source.Choice{
		"":  {Budget: 1, Views: map[string]tool.View{"a": tool.Flat, "b": tool.Flat, "c": tool.Flat, "d": tool.Flat}},
		"x": {Budget: 3, Views: map[string]tool.View{"b": tool.Grouped}},
	}
	if diff := cmp.Diff(want, v.Load()); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if err := v.Clear(); err != nil || len(v.Load()) != 0 {
		t.Errorf("after Clear there is %v, %v", v.Load(), err)
	}
	for _, spoilt := range []string{"{", `{"version":2}`, `{"version":1,"profiles":{"":{"budget":1,"views":{"a":"auto"}}}}`} {
		log.Reset()
		if err := os.WriteFile(path, []byte(spoilt), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := v.Load(); len(got) != 0 || !strings.Contains(log.String(), path) {
			t.Errorf("of %s %v is loaded, and the log says %q", spoilt, got, log.String())
		}
		v.Save("", source.Choice{Budget: 1, Views: map[string]tool.View{"a": tool.Flat}})
		if got := v.Load(); got[""].Views["a"] != tool.Flat {
			t.Errorf("over %s, %v is written", spoilt, got)
		}
	}
}
