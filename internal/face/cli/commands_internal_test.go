package cli

import (
	"slices"
	"strings"
	"testing"
)

// A command line that begins with a tool is a call; names of commands take precedence.
func TestToolsStandForCalls(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                         "",
		"notebook list":            "call notebook list",
		"--home h notebook list":   "call --home h notebook list",
		"--home=h --json nb list":  "call --home=h --json nb list",
		"--local nb list":          "call --local nb list",
		"call notebook list":       "call notebook list",
		"--home call version":      "--home call version",
		"--home h version":         "--home h version",
		"help tools":               "help tools",
		"completion bash":          "completion bash",
		"__complete t":             "__complete t",
		"-h":                       "-h",
		"--strange notebook list":  "--strange notebook list",
		"--home":                   "--home",
		"tools":                    "tools",
		"server__tool --x version": "call server__tool --x version",
	} {
		p, _, _ := newProgram("")
		if got := p.expand(p.tree(), strings.Fields(line)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("expand(%q) = %q, want %q", line, got, want)
		}
	}
}
