// Package admin shows people the rules of the firewall, and judges calls on trial. It also reads the firewall's part of
// the settings.
package admin

import (
	"bytes"
	"encoding/json"
	"runtime"
	"slices"

	"collie/internal/config"
	"collie/internal/pipeline/firewall"
	"collie/internal/tool"
)

// Settings returns the settings of the firewall that cfg asks for. It forbids tools to touch Collie's own files.
func Settings(cfg *config.Config) *firewall.Settings {
	g := &cfg.Guard
	own := []string{cfg.Paths.State, cfg.Paths.Data, cfg.Paths.Config}
	if cfg.Vault.File != "" {
		own = append(own, cfg.Vault.File)
	}
	return &firewall.Settings{
		LogOnly: g.Mode == "log", Clients: g.Clients == "enforce",
		Policy: firewall.Policy{
			ReadRoots: g.ReadRoots, WriteRoots: g.WriteRoots, DenyPaths: g.DenyPaths, Own: own,
			AllowCommands: g.AllowCommands, DenyCommands: g.DenyCommands, AllowHosts: g.AllowHosts, DenyHosts: g.DenyHosts,
		},
	}
}

// Files returns the firewall's view of this machine's file system.
func Files(env config.Env) firewall.Files {
	return firewall.Files{
		Home: env.First("HOME", "USERPROFILE"), Resolve: firewall.Resolve,
		Folds: runtime.GOOS == "windows" || runtime.GOOS == "darwin",
	}
}

// Rule is a rule of the firewall.
type Rule struct {
	Rule     string   `json:"rule"`
	Decision string   `json:"decision"` // deny, ask or allow
	About    string   `json:"about"`
	From     string   `json:"from"`             // "built in", or the setting that it comes from
	Values   []string `json:"values,omitempty"` // the value of the setting
}

// Rules returns the rules in effect: the built-in ones, then those from the settings.
func Rules(cfg *config.Config) []Rule {
	g := &cfg.Guard
	settings := map[string]struct {
		name   string
		values []string
	}{
		"path.outside":   {"guard.roots", slices.Concat(g.WriteRoots, g.ReadRoots)},
		"path.denied":    {"guard.paths.deny", g.DenyPaths},
		"command.denied": {"guard.commands.deny", g.DenyCommands},
		"command.known":  {"guard.commands.allow", g.AllowCommands},
		"url.denied":     {"guard.hosts.deny", g.DenyHosts},
		"url.private":    {"guard.hosts.allow", g.AllowHosts},
	}
	var built, set []Rule
	for _, r := range firewall.Rules() {
		rule := Rule{Rule: r.Name, Decision: r.Decision.String(), About: r.About, From: "built in"}
		s, filled := settings[r.Name]
		if !filled || r.Name == "command.known" || r.Name == "url.private" {
			built = append(built, rule)
		}
		if len(s.values) == 0 {
			continue
		}
		if rule.From, rule.Values = s.name, s.values; r.Name == "url.private" {
			rule.Decision, rule.About = firewall.Allow.String(), "hosts that may be called without asking"
		}
		set = append(set, rule)
	}
	return append(built, set...)
}

// Trial is the verdict on a hypothetical call.
type Trial struct {
	Origin   tool.Origin `json:"origin"`
	Outcome  string      `json:"outcome"`  // pass, ask, refuse or log
	Decision string      `json:"decision"` // deny, ask or allow
	Rule     string      `json:"rule,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	Risk     tool.Risk   `json:"risk"`
	Effects  []string    `json:"effects"`
	Steps    []Found     `json:"steps"`
}

// Found is the verdict of one rule.
type Found struct {
	Decision string `json:"decision"`
	Rule     string `json:"rule"`
	At       string `json:"at,omitempty"` // a JSON pointer into the arguments
	Reason   string `json:"reason"`
}

// Try judges a call of another server's tool, described as JSON: server, tool, arguments, and optionally
// description, readOnly, destructive, changed and origin (default chat). Nothing runs. Errors are a [tool.Error] of
// kind Invalid.
func Try(cfg *config.Config, env config.Env, raw []byte) (*Trial, error) {
	call := struct {
		Server      string          `json:"server"`
		Tool        string          `json:"tool"`
		Description string          `json:"description"`
		Arguments   json.RawMessage `json:"arguments"`
		Origin      tool.Origin     `json:"origin"`
		ReadOnly    bool            `json:"readOnly"`
		Destructive bool            `json:"destructive"`
		Changed     bool            `json:"changed"`
	}{Origin: tool.Chat}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&call); err != nil {
		return nil, &tool.Error{
			Op: "read", Kind: tool.Invalid, Subject: "the call", Message: "it is not a call", Err: err,
			Hint: `write {"server":"files","tool":"read_file","arguments":{"path":"/tmp/x"}}`,
		}
	}
	if call.Tool == "" || !slices.Contains([]tool.Origin{tool.Direct, tool.Chat, tool.CLIAgent, tool.MCPLocal, tool.MCPRemote, tool.Scheduled}, call.Origin) {
		return nil, &tool.Error{
			Op: "read", Kind: tool.Invalid, Subject: "the call", Message: "its tool or its origin is missing or unknown",
			Hint: "name the tool, and as the origin direct, chat, cli-agent, mcp-local, mcp-remote or scheduled",
		}
	}
	c := &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Name: call.Server + "__" + call.Tool, Origin: call.Origin}, Tool: call.Server, Args: call.Arguments,
		Action: &tool.Action{Name: call.Tool, Description: call.Description, ReadOnly: call.ReadOnly, Destructive: call.Destructive, Changed: call.Changed},
	}
	settings, seen, steps := Settings(cfg), Files(env), []firewall.Verdict{}
	v := settings.Judge(c, &seen, &steps)
	out := &Trial{Origin: call.Origin, Decision: v.Decision.String(), Rule: v.Rule, Reason: v.Reason, Outcome: string(settings.Outcome(call.Origin, &v)), Steps: []Found{}}
	risk, effects := c.Action.Rated()
	if out.Risk, out.Effects = risk, effects.Names(); v.Risk != "" {
		out.Risk = v.Risk
	}
	for _, s := range steps {
		out.Steps = append(out.Steps, Found{s.Decision.String(), s.Rule, s.At, s.Reason})
	}
	return out, nil
}
