package entry_test

import (
	"path/filepath"
	"testing"

	"collie/internal/config"
	"collie/internal/source/upstream/entry"
)

// The example file that the README tells people to run causes no warnings.
func TestExamplesAreClean(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "..", "..", "examples", "mcp-servers.json")
	c, err := config.Load(config.Options{Home: t.TempDir(), Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range c.Warnings {
		t.Error(w)
	}
	var names []string
	for _, s := range c.Servers {
		names = append(names, s.Name)
		e, problems := entry.Parse(s.Name, s.Raw, entry.Options{Dir: s.Dir})
		for _, p := range problems {
			t.Error(s.Finding(p.Pointer, p.Rule, config.Severity(p.Severity), p.Message))
		}
		if !e.Runner || e.Package == "" {
			t.Errorf("%s is not seen as a package runner", s.Name)
		}
	}
	if wrong := entry.CheckNames(names, []string{"collie", "siyuan"}); len(names) == 0 || wrong != nil {
		t.Errorf("servers %v: %v", names, wrong)
	}
}
