package source_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// spoken is a source that accepts messages of clients.
type spoken struct {
	*tooltest.Fake
	mute bool   // Listens reports false
	owns string // the source owns messages whose parameters contain this

	mu   sync.Mutex
	told []string
	here []string
}

func (s *spoken) Listens() bool { return !s.mute }

func (s *spoken) Owns(m *tool.Message) bool {
	return s.owns != "" && strings.Contains(string(m.Params), s.owns)
}

func (s *spoken) Tell(m *tool.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, m.Method)
}

func (s *spoken) SetSessions(sessions []*tool.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.here = nil
	for _, one := range sessions {
		s.here = append(s.here, one.ID)
	}
}

// newSpoken returns a source that owns messages whose parameters contain owns.
func newSpoken(name, owns string) *spoken {
	return &spoken{Fake: tooltest.NewFake(name, tooltest.Offer(name, tooltest.Action("x"), tooltest.Action("y"))), owns: owns}
}

// A vendor's message goes to the source that owns what it names, else to the only listening source of the profile.
// Progress goes to its owner alone. A change of the roots goes to all listening sources of the profile.
func TestMessagesFindTheirSource(t *testing.T) {
	t.Parallel()
	a, b, off := newSpoken("a", "of-a"), newSpoken("b", "of-b"), newSpoken("off", "")
	off.mute = true
	c := source.New([]tool.Source{a, tooltest.NewFake("notes", tooltest.Offer("notes", tooltest.Action("n"))), b, off}, source.Options{Profiles: map[string]source.Profile{
		"one": {Tools: []string{"b/x"}}, "less": {Hide: []string{"a"}}, "none": {Tools: []string{"notes"}},
	}})
	defer c.Close()
	const roots, progress = "notifications/roots/list_changed", "notifications/progress"
	for _, tc := range []struct{ profile, method, params, want string }{
		{"", "vendor/x", `{}`, ""},
		{"", "vendor/x", `{"id":"of-b"}`, "b"},
		{"", progress, `{"id":"of-a"}`, "a"},
		{"", roots, ``, "a b"},
		{"one", "vendor/x", `{}`, "b"},
		{"one", "vendor/x", `{"id":"of-a"}`, "b"},
		{"one", progress, `{}`, ""},
		{"one", roots, ``, "b"},
		{"less", "vendor/x", `{}`, "b"},
		{"none", "vendor/x", `{"id":"of-a"}`, ""},
		{"none", roots, ``, ""},
	} {
		a.told, b.told = nil, nil
		heard := c.Tell(&tool.Message{Method: tc.method, Params: []byte(tc.params), Profile: tc.profile})
		var got []string
		for _, s := range []*spoken{a, b, off} {
			if len(s.told) > 0 {
				got = append(got, s.Name())
			}
		}
		if strings.Join(got, " ") != tc.want || heard != (tc.want != "") {
			t.Errorf("%+v went to %v (%t)", tc, got, heard)
		}
		if tc.method != "vendor/x" {
			continue
		}
		request := tool.Request{Kind: tool.KindRequest, Name: tc.method, Params: []byte(tc.params), Profile: tc.profile}
		call, err := c.Resolve(t.Context(), request)
		if tc.want == "" && tool.KindOf(err) != tool.NotFound || tc.want != "" && (err != nil || call.Source.Name() != tc.want || call.Target != tc.method) {
			t.Errorf("%+v resolves to %+v, %v", tc, call.Source, err)
		}
	}
}

// Each source hears of the sessions that see it, including those that were connected before it came.
func TestSourcesMeetSessions(t *testing.T) {
	t.Parallel()
	a, b := newSpoken("a", ""), newSpoken("b", "")
	profiles := map[string]source.Profile{"b": {Tools: []string{"b"}}, "not-b": {Hide: []string{"b/*"}}}
	c := source.New([]tool.Source{a}, source.Options{Profiles: profiles})
	defer c.Close()
	for id, profile := range map[string]string{"1": "", "2": "b", "3": "not-b"} {
		c.Join(&tool.Session{ID: id, Profile: profile})
	}
	c.Set([]tool.Source{a, b}, profiles, nil)
	sees := func(s *spoken) string {
		s.mu.Lock()
		defer s.mu.Unlock()
		all := map[string]bool{}
		for _, id := range s.here {
			all[id] = true
		}
		out := ""
		for _, id := range []string{"1", "2", "3"} {
			if all[id] {
				out += id
			}
		}
		return out
	}
	if d := cmp.Diff([]string{"13", "12"}, []string{sees(a), sees(b)}); d != "" {
		t.Errorf("met (-want +got):\n%s", d)
	}
	c.Leave("1")
	c.Leave("1")
	if d := cmp.Diff([]string{"3", "2"}, []string{sees(a), sees(b)}); d != "" {
		t.Errorf("after one has left (-want +got):\n%s", d)
	}
}
