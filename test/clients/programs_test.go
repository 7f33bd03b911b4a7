//go:build stories

package clients_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"collie/test/fakellm/provider"
)

// client is a program that people use, with the way to make it use the fake model.
type client struct {
	name string // its name for `collie connect`
	api  string // the API that it uses for its model
	// program is a file below node_modules; script says that it needs Node.
	program string
	script  bool
	// prepare writes settings that a person would have before installing Collie.
	prepare func(t *testing.T, home string)
	env     func(fake string) []string
	args    func(fake string) []string
	// prefix precedes the names of Collie's tools.
	prefix string
	// search is the tool with which this client's model requests the definitions of tools that are only
	// named; empty if the client shows all definitions at once.
	search string
	// late says that this client asks its model while servers are still starting, and shows their tools in a
	// later request of the same session; wait is called in between.
	late bool
	wait *provider.Call
	// asks are hosts that this client contacts on its own; a proxy refuses that.
	asks []string
}

// model is the model that all requests name, prompt their text.
const (
	model  = "fake-1"
	prompt = "Look after my shopping list."
)

var clients = []client{
	{
		name: "claude-code", api: provider.Anthropic, prefix: "mcp__collie__",
		program: "@anthropic-ai/claude-code-linux-x64/claude",
		env: func(fake string) []string {
			return []string{
				"ANTHROPIC_BASE_URL=" + fake, "ANTHROPIC_API_KEY=fake", "DISABLE_AUTOUPDATER=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			}
		},
		args: func(string) []string {
			return []string{"--print", prompt, "--model", model, "--allowedTools", "mcp__collie"}
		},
		search: "ToolSearch", late: true,
	},
	{
		name: "codex", api: provider.Responses, prefix: "mcp__collie",
		program: "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
		env:     func(string) []string { return []string{"FAKE_KEY=fake"} },
		args: func(fake string) []string {
			return []string{
				"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--model", model,
				"-c", "model_provider=fake", "-c", "model_providers.fake.name=fake", "-c", "model_providers.fake.base_url=" + fake + "/v1",
				"-c", "model_providers.fake.env_key=FAKE_KEY", "-c", "model_providers.fake.wire_api=responses",
				"-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false",
				"-c", "features.plugins=false", "-c", "features.apps=false", prompt,
			}
		},
		late: true, wait: &provider.Call{Tool: "exec_command", Args: json.RawMessage(`{"cmd":"sleep 0.2"}`)},
	},
	{
		name: "gemini", api: provider.Gemini, prefix: "mcp_collie_",
		program: "@google/gemini-cli/bundle/gemini.js", script: true,
		prepare: func(t *testing.T, home string) {
			writeSettings(t, filepath.Join(home, ".gemini", "settings.json"), map[string]any{
				"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
				"general":  map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
				"privacy":  map[string]any{"usageStatisticsEnabled": false},
			})
		},
		env: func(fake string) []string {
			return []string{"GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL=" + fake}
		},
		args: func(string) []string {
			return []string{"--prompt", prompt, "--model", model, "--approval-mode", "yolo", "--skip-trust"}
		},
	},
	{
		name: "opencode", api: provider.Completions, prefix: "collie_",
		program: "opencode-linux-x64-baseline/bin/opencode",
		prepare: func(t *testing.T, home string) {
			writeSettings(t, filepath.Join(home, ".config", "opencode", "opencode.json"), map[string]any{"autoupdate": false, "share": "disabled"})
		},
		env: func(fake string) []string {
			settings, _ := json.Marshal(map[string]any{"provider": map[string]any{"fake": map[string]any{
				"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": map[string]any{"baseURL": fake + "/v1", "apiKey": "fake"},
				"models": map[string]any{model: map[string]any{"name": "Fake", "tool_call": true}},
			}}})
			return []string{
				"OPENCODE_CONFIG_CONTENT=" + string(settings), "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
				"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
			}
		},
		args: func(string) []string { return []string{"run", "--model", "fake/" + model, prompt} },
		asks: []string{"registry.npmjs.org:443"}, // for what plugins would need
	},
}

// writeSettings writes settings of a client.
func writeSettings(t *testing.T, file string, settings any) {
	t.Helper()
	data, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
