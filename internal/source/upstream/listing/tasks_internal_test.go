package listing

import (
	"encoding/json"
	"strings"
	"testing"

	"collie/internal/tool"
)

// A tool that must run as a task is switched off, with that reason, if its server supports tasks at all. Its
// definition stays unchanged.
func TestTaskOnlyTools(t *testing.T) {
	t.Parallel()
	l := newListing(t, Options{})
	def := func(name, support string) json.RawMessage {
		return json.RawMessage(`{"name":"` + name + `","inputSchema":{"type":"object"},"execution":{"taskSupport":"` + support + `"}}`)
	}
	k := &Lists{Tools: []json.RawMessage{def("a", "required"), def("b", "optional"), def("c", "forbidden")}}
	for capabilities, off := range map[string]string{
		`{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`: "a ",
		`{"tools":{},"tasks":{"list":{}}}`:                        "",
		`{"tools":{}}`:                                            "",
	} {
		k.capabilities = json.RawMessage(capabilities)
		offer, _ := l.offerOf(k)
		got := ""
		for i, a := range offer.Tools[0].Actions {
			if string(a.Definition) != string(k.Tools[i]) {
				t.Errorf("the definition became %s", a.Definition)
			}
			if a.Off != "" {
				got += a.Name + " "
			}
			if a.Off != "" && !strings.Contains(a.Off, "taskSupport: required") || a.Unsupported != (a.Off != "") {
				t.Errorf("%s is off: %s, which nobody can change is %v", a.Name, a.Off, a.Unsupported)
			}
		}
		if got != off {
			t.Errorf("with %s off are %q, want %q", capabilities, got, off)
		}
	}
}

// Whether such a tool is off follows the capabilities, although its definition stays the same.
func TestTaskOnlyToolsFollowTheCapabilities(t *testing.T) {
	t.Parallel()
	l := newListing(t, Options{})
	tools := []json.RawMessage{json.RawMessage(`{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`)}
	for _, c := range []struct {
		capabilities string
		off          bool
	}{{`{"tools":{}}`, false}, {`{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`, true}, {`{"tools":{}}`, false}} {
		l.Publish(&Lists{Tools: tools, capabilities: json.RawMessage(c.capabilities)}, tool.FreshLive, "")
		if a := l.Offer().Tools[0].Actions[0]; a.Unsupported != c.off {
			t.Errorf("with %s: off %v, want %v", c.capabilities, a.Unsupported, c.off)
		}
	}
}

// A star of include and exclude stands for a slash as well: an exclude of everything leaves no tool.
func TestStarMatchesSlashes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"*", "repo/delete", true},
		{"repo/*", "repo/a/b", true},
		{"repo/*", "other/a", false},
		{"*delete*", "repo/delete", true},
		{"a?b", "a/b", true},
		{"repo/delete", "repo/delete", true},
		{"[", "[", false},
	} {
		if got := anyMatch([]string{c.glob}, c.name); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.glob, c.name, got, c.want)
		}
	}
}
