package library

import (
	"slices"
	"strings"
)

// knownAgents are programs that speak the Agent Client Protocol, with the commands that start them.
var knownAgents = []struct{ name, about, command string }{
	{"claude-code", "Claude Code", "claude-agent-acp"},
	{"claude-code", "Claude Code", "claude-code-acp"}, // its name until 2026
	{"codex", "Codex", "codex-acp"},
	{"copilot", "GitHub Copilot", "copilot --acp"},
	{"cursor", "Cursor", "cursor-agent acp"},
	{"gemini", "Gemini CLI", "gemini --acp"},
	{"goose", "goose", "goose acp"},
	{"opencode", "opencode", "opencode acp"},
	{"qwen", "Qwen Code", "qwen --acp"},
}

// AddInstalled adds agents of other programs that are installed; has reports whether a command is. If names are equal, an agent
// with a file wins, and otherwise the first.
func (l *Library) AddInstalled(has func(command string) bool) {
	for _, k := range knownAgents {
		command := strings.Fields(k.command)
		taken := slices.ContainsFunc(l.Agents, func(a Agent) bool { return a.Name == k.name })
		if !taken && has(command[0]) {
			l.Agents = append(l.Agents, Agent{Name: k.name, Description: k.about + ", found in PATH", Engine: engineCLI, Command: command})
		}
	}
	slices.SortFunc(l.Agents, func(a, b Agent) int { return strings.Compare(a.Name, b.Name) })
}
