package actiontest

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"

	"collie/internal/source/siyuan/action"
)

// Bounds of the texts that models read about each action and argument, in characters.
const (
	longestPurpose = 90
	longestAbout   = 60
)

// Told holds what a test expects of the actions of a tool. The names are in the order in which the tool lists its actions.
type Told struct {
	Actions, Dangerous, Off []string
	// About bounds the text of an argument in characters; zero means 60.
	About int
}

// Tool checks the actions of a tool against want, and each of them against rules for all: texts are short, an action
// that needs no level says why, and its example uses only its own arguments. Two to six of them must be common.
func Tool(t testing.TB, tl action.Tool, want Told) {
	t.Helper()
	var got Told
	common := 0
	for _, a := range tl.Actions {
		got.Actions = append(got.Actions, a.Name)
		if a.Dangerous {
			got.Dangerous = append(got.Dangerous, a.Name)
		}
		if a.Off {
			got.Off = append(got.Off, a.Name)
		}
		if a.Common {
			common++
		}
		if len(a.Needs) == 0 && a.Unguarded == "" {
			t.Errorf("%s: neither needs a level nor says why not", a.Name)
		}
		describes(t, a, cmp.Or(want.About, longestAbout))
	}
	for what, lists := range map[string][2][]string{
		"actions": {got.Actions, want.Actions}, "dangerous": {got.Dangerous, want.Dangerous}, "off by default": {got.Off, want.Off},
	} {
		if !slices.Equal(lists[0], lists[1]) {
			t.Errorf("%s: %s: got %q, want %q", tl.Name, what, lists[0], lists[1])
		}
	}
	if common < 2 || common > 6 {
		t.Errorf("%s: %d common actions, want 2 to 6", tl.Name, common)
	}
}

// describes checks the description of an action; about is the maximum length of the text of an
// argument, in characters.
func describes(t testing.TB, a *action.Action, about int) {
	t.Helper()
	if n := utf8.RuneCountInString(a.Purpose); n == 0 || n > longestPurpose {
		t.Errorf("%s: a purpose of %d characters, want 1 to %d", a.Name, n, longestPurpose)
	}
	if len(a.Returned()) == 0 {
		t.Errorf("%s: it does not say what it returns", a.Name)
	}
	for _, p := range a.Params() {
		if n := utf8.RuneCountInString(p.About); n == 0 || n > about {
			t.Errorf("%s.%s: about of %d characters, want 1 to %d", a.Name, p.Name, n, about)
		}
	}
	var example map[string]any
	if err := json.Unmarshal([]byte(a.Example), &example); err != nil {
		t.Errorf("%s: example: %v", a.Name, err)
	}
	for name := range example {
		if a.Param(name) == nil {
			t.Errorf("%s: example has %q, which is not an argument", a.Name, name)
		}
	}
}
