package admin

import (
	"testing"

	"collie/internal/config"
	"collie/internal/tool"
)

// A server of a project that is not trusted is left out of all, and refused by name.
func TestSelectServers(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{Servers: []config.ServerEntry{{Name: "a"}, {Name: "b", Untrusted: true}}}
	if all, err := selectServers(cfg, nil); err != nil || len(all) != 1 || all[0].Name != "a" {
		t.Errorf("all: %v, %v", all, err)
	}
	for name, want := range map[string]tool.ErrorKind{"b": tool.Disabled, "c": tool.NotFound} {
		if got, err := selectServers(cfg, []string{"a", name}); tool.KindOf(err) != want {
			t.Errorf("%s: %v, %v, want an error of kind %v", name, got, err, want)
		}
	}
}
