package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/source/upstream/registry/registrytest"
	"collie/test/binary"
)

// TestAddFromTheRegistryAtATerminal answers the questions about a server of the registry, and reads what will run before it agrees.
func TestAddFromTheRegistryAtATerminal(t *testing.T) {
	t.Parallel()
	program := binary.Build(t, binary.Collie)
	home := t.TempDir()
	settings := `{"secrets": {"store": "file"}, "mcp": {"registry": "` + registrytest.Serve(t, registrytest.Weather) + `"}}`
	if err := os.WriteFile(filepath.Join(home, "collie.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	const name = "io.github.example/mcp-server-weather"
	asked := [][2]string{
		{"units, Units (metric, imperial) [metric]: ", "imperial\n"},
		{"WEATHER_API_KEY, Your key: ", "\n"}, // needed, so it is asked again
		{"WEATHER_API_KEY, Your key: ", "geheim-123456\n"},
		{"WEATHER_CACHE, A folder to keep answers in [none]: ", "\n"},
	}
	no := append(append([][2]string{}, asked...), [2]string{"Add weather to the settings? [y/N] ", "n\n"})
	exit, shown := runAtTerminal(t, program, home, no, nil, "mcp", "add", name, "--package", "npm", "--no-warm")
	if text := readSettings(t, home); exit != 5 || text != settings || strings.Contains(shown, "geheim") {
		t.Errorf("no: exit code %d, settings %s:\n%s", exit, text, shown)
	}
	yes := append(append([][2]string{}, asked...), [2]string{"Add weather to the settings? [y/N] ", "y\n"})
	exit, shown = runAtTerminal(t, program, home, yes, nil, "mcp", "add", name, "--package", "npm", "--no-warm")
	text := readSettings(t, home)
	if exit != 0 || !strings.Contains(text, "${secret:WEATHER_API_KEY}") || strings.Contains(text+shown, "geheim") || strings.Contains(text, "WEATHER_CACHE") ||
		!strings.Contains(shown, "runs: npx -y @example/weather@1.2.3 --units imperial serve") {
		t.Errorf("yes: exit code %d, settings %s:\n%s", exit, text, shown)
	}
	list := exec.CommandContext(t.Context(), program, "--home", home, "secret", "list")
	if out, err := list.Output(); err != nil || !strings.Contains(string(out), "WEATHER_API_KEY") {
		t.Errorf("secrets %q, %v", out, err)
	}
}
