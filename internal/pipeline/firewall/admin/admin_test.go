package admin_test

import (
	"slices"
	"testing"

	"collie/internal/config"
	"collie/internal/pipeline/firewall/admin"
	"collie/internal/tool"
)

// Rules shows a rule from the settings with its origin. Try judges a call as the stage would, and refuses malformed requests.
func TestGuard(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{Guard: config.Guard{Mode: "enforce", Clients: "log", DenyPaths: []string{"**/private/**"}}}
	at := slices.IndexFunc(admin.Rules(cfg), func(r admin.Rule) bool { return r.Rule == "path.denied" && r.From == "guard.paths.deny" })
	if at < 0 {
		t.Error("the rule of the settings is missing")
	}
	for _, tt := range []struct{ origin, outcome string }{
		{"chat", "refuse"}, {"direct", "ask"}, {"mcp-local", "log"}, {"scheduled", "refuse"},
	} {
		raw := `{"server":"files","tool":"read_file","arguments":{"path":"/x/private/y"},"origin":"` + tt.origin + `"}`
		trial, err := admin.Try(cfg, config.Env{}, []byte(raw))
		if err != nil || trial.Outcome != tt.outcome || trial.Rule != "path.denied" || trial.Risk != tool.RiskCritical || len(trial.Steps) != 1 {
			t.Errorf("%s: %+v, %v", tt.origin, trial, err)
		}
	}
	for _, wrong := range []string{``, `[]`, `{}`, `{"tool":"x","colour":1}`, `{"tool":"x","origin":"nobody"}`} {
		if _, err := admin.Try(cfg, config.Env{}, []byte(wrong)); tool.KindOf(err) != tool.Invalid {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
