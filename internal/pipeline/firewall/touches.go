package firewall

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"collie/internal/tool"
)

// This file finds what a call touches, such as paths, hosts and commands, so that a grant can be limited to it.

// Touches returns what a call of another server's tool touches according to its arguments: files, hosts or a command.
// It returns nil if that is not fully known, for instance because of a relative path. Grants depend on it. Our own
// tools report what they touch themselves.
func (s *Stage) Touches(c *tool.Call) []tool.Touch {
	if c.Kind != tool.KindCall || c.Action == nil || c.Action.Risk != tool.RiskUnknown {
		return nil
	}
	found := touched{}
	j := judgement{policy: &s.settings.Load().Policy, files: &s.files, action: c.Action, server: c.Tool, touched: &found}
	j.judgeArguments(c.Args)
	if found.unknown || j.worst.Decision == Deny {
		return nil
	}
	return found.list
}

// touched collects what a call touches.
type touched struct {
	list    []tool.Touch
	unknown bool // the list is incomplete
	within  bool // inside a command, whose parts are not listed separately
}

// add adds a touch. A nil t ignores it.
func (t *touched) add(kind tool.TouchKind, value string) {
	if t != nil && !t.within {
		t.list = append(t.list, tool.Touch{Kind: kind, Value: value})
	}
}

// addUnknown notes that the list is incomplete.
func (t *touched) addUnknown() {
	if t != nil && !t.within {
		t.unknown = true
	}
}

// addCommand adds a command and then runs judge, which judges its parts.
func (t *touched) addCommand(words []string, judge func()) {
	if t == nil {
		judge()
		return
	}
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return w == "" || strings.Contains(w, "\n") }) {
		t.unknown = true
	} else {
		t.add(tool.TouchCommand, strings.Join(words, "\n"))
	}
	t.within = true
	judge()
	t.within = false
}

// simpleCommand returns the words of a script that is one simple command: nothing in it is expanded, assigned,
// redirected, negated or sent to the background. It returns nil for all others.
func simpleCommand(script string) (out []string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(s.Redirs) > 0 || s.Negated || s.Background || s.Coprocess {
		return nil
	}
	for _, a := range call.Args {
		w := wordOf(a)
		if !w.fixed || w.globs {
			return nil
		}
		out = append(out, w.text)
	}
	return out
}

// commandWords returns simpleCommand(script) if touches are collected; otherwise it saves the time.
func (j *judgement) commandWords(script string) []string {
	if j.touched == nil || len(script) > maxCommand {
		return nil
	}
	return simpleCommand(script)
}

// isPlainHost reports whether a host consists of plain ASCII characters, so that its meaning is unambiguous.
func isPlainHost(host string) bool {
	return !strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' || r == '%' })
}

// withPort joins host and port; port may be empty.
func withPort(host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return host
}
