package root

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
	"collie/internal/face/cli/output"
)

// The arguments for a client have the home and the settings files by absolute paths, from flags or from the environment.
func TestStdioArgs(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	env := config.EnvOf("COLLIE_HOME=/env/home", "COLLIE_CONFIG=/env/c.json")
	tests := []struct {
		name    string
		program Program
		profile string
		want    []string
	}{
		{"nothing said", Program{}, "", []string{"stdio"}},
		{"flags", Program{Home: "h", Files: []string{"a.json", "/b.json"}, Output: output.Output{Env: env}}, "p", []string{
			"stdio", "--home", filepath.Join(here, "h"), "--config", filepath.Join(here, "a.json"), "--config", "/b.json", "--profile", "p",
		}},
		{"environment", Program{Output: output.Output{Env: env}}, "", []string{"stdio", "--home", "/env/home", "--config", "/env/c.json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.program.StdioArgs(tt.profile)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
