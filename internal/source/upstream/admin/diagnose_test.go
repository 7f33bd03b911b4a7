package admin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"collie/internal/config"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// A server of an untrusted project is not started for a diagnosis, whatever the other settings are.
func TestDiagnoseUntrusted(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"MCP on": `{}`, "MCP off": `{"mcp":{"enabled":false}}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := loadSettings(t, text)
			ran := filepath.Join(t.TempDir(), "ran")
			raw, err := json.Marshal(map[string]any{"command": "touch", "args": []string{ran}})
			if err != nil {
				t.Fatal(err)
			}
			cfg.Servers = append(cfg.Servers, config.ServerEntry{Name: "theirs", Raw: raw, Untrusted: true})
			var steps []tool.Step
			env := config.EnvOf("PATH=" + os.Getenv("PATH"))
			ok, err := serveradmin.Diagnose(t.Context(), cfg, serveradmin.DiagnoseOptions{Env: env}, "theirs", func(s tool.Step) { steps = append(steps, s) })
			if err != nil || ok || len(steps) == 0 || steps[0].Reason != "disabled_error" {
				t.Errorf("ok %v, error %v, steps %+v; want it refused for its settings", ok, err, steps)
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("the command of a server that nobody trusts was run")
			}
		})
	}
}
