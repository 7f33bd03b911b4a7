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

// messageSource is a source that accepts messages of clients.
type messageSource struct {
	*tooltest.Fake
	deaf bool   // Listens reports false
	owns string // the source owns messages whose parameters contain this

	mu   sync.Mutex
	told []string
	here []string
}

func (s *messageSource) Listens() bool { return !s.deaf }

func (s *messageSource) Owns(m *tool.Message) bool {
	return s.owns != "" && strings.Contains(string(m.Params), s.owns)
}

func (s *messageSource) Tell(m *tool.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, m.Method)
}

func (s *messageSource) SetSessions(sessions []*tool.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.here = nil
	for _, one := range sessions {
		s.here = append(s.here, one.ID)
	}
}

// newMessageSource returns a source that owns messages whose parameters contain owns.
func newMessageSource(name, owns string) *messageSource {
	return &messageSource{Fake: tooltest.NewFake(name, tooltest.Offer(name, tooltest.Action("x"), tooltest.Action("y"))), owns: owns}
}

// A vendor's message goes to the source that owns what it names, else to the only listening source of the profile.
// Progress goes to its owner alone. A change of the roots goes to all listening sources of the profile.
func TestMessagesFindTheirSource(t *testing.T) {
	t.Parallel()
	a, b, off := newMessageSource("a", "of-a"), newMessageSource("b", "of-b"), newMessageSource("off", "")
	off.deaf = true
	c := source.New([]tool.Source{a, tooltest.NewFake("notes", tooltest.Offer("notes", tooltest.Action("n"))), b, off}, source.Options{Profiles: map[string]source.Profile{
		"one": {Tools: []string{"b/x"}}, "less": {Hide: []string{"a"}}, "none": {Tools: []string{"notes"}},
	}})
	defer c.Close()
	const roots, progress = "notifications/roots/list_changed", "notifications/progress"
	for _, tc := range []struct{ profile, method, params, want string }{
		{profile: "", method: "vendor/x", params: `{}`},
		{profile: "", method: "vendor/x", params: `{"id":"of-b"}`, want: "b"},
		{profile: "", method: progress, params: `{"id":"of-a"}`, want: "a"},
		{profile: "", method: roots, params: ``, want: "a b"},
		{profile: "one", method: "vendor/x", params: `{}`, want: "b"},
		{profile: "one", method: "vendor/x", params: `{"id":"of-a"}`, want: "b"},
		{profile: "one", method: progress, params: `{}`},
		{profile: "one", method: roots, params: ``, want: "b"},
		{profile: "less", method: "vendor/x", params: `{}`, want: "b"},
		{profile: "none", method: "vendor/x", params: `{"id":"of-a"}`},
		{profile: "none", method: roots, params: ``},
	} {
		a.told, b.told = nil, nil
		heard := c.Tell(&tool.Message{Method: tc.method, Params: []byte(tc.params), Profile: tc.profile})
		var got []string
		for _, s := range []*messageSource{a, b, off} {
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
	a, b := newMessageSource("a", ""), newMessageSource("b", "")
	profiles := map[string]source.Profile{"b": {Tools: []string{"b"}}, "not-b": {Hide: []string{"b/*"}}}
	c := source.New([]tool.Source{a}, source.Options{Profiles: profiles})
	defer c.Close()
	for id, profile := range map[string]string{"1": "", "2": "b", "3": "not-b"} {
		c.Join(&tool.Session{ID: id, Profile: profile})
	}
	c.Set([]tool.Source{a, b}, profiles, nil)
	sees := func(s *messageSource) string {
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
