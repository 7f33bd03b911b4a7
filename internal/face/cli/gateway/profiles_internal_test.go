package gateway

import (
	"testing"

	"collie/internal/config"
)

// widens finds the changes of a profile that could let a client see or do more.
func TestWidens(t *testing.T) {
	t.Parallel()
	filter := func(include, exclude []string) config.Profile {
		return config.Profile{Tools: config.Filter{Include: include, Exclude: exclude}}
	}
	levels := func(pairs ...string) config.Profile {
		p := config.Profile{Notebooks: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			p.Notebooks[pairs[i]] = pairs[i+1]
		}
		return p
	}
	for name, c := range map[string]struct {
		old, now config.Profile
		want     bool
	}{
		"nothing":                    {},
		"a view":                     {now: config.Profile{View: "search"}},
		"a first filter":             {now: filter([]string{"fs"}, nil)},
		"a filter less":              {old: filter([]string{"fs"}, nil), want: true},
		"one tool more":              {old: filter([]string{"fs"}, nil), now: filter([]string{"fs", "tea"}, nil), want: true},
		"one tool less":              {old: filter([]string{"fs", "tea"}, nil), now: filter([]string{"fs"}, nil)},
		"one more kept out":          {old: filter(nil, []string{"tea"}), now: filter(nil, []string{"tea", "fs"})},
		"one kept out less":          {old: filter(nil, []string{"tea"}), want: true},
		"actions":                    {old: config.Profile{Actions: config.Filter{Exclude: []string{"fs.rm"}}}, want: true},
		"a first level":              {now: levels("*", "r")},
		"no level any more":          {old: levels("*", "r"), want: true},
		"higher":                     {old: levels("a", "r"), now: levels("a", "rw"), want: true},
		"lower":                      {old: levels("a", "rw"), now: levels("a", "r")},
		"one lifted above the rest":  {old: levels("*", "r"), now: levels("*", "r", "a", "rwd"), want: true},
		"one below the rest":         {old: levels("*", "r"), now: levels("*", "r", "a", "none")},
		"one that falls to the rest": {old: levels("*", "r", "a", "none"), now: levels("*", "r"), want: true},
	} {
		if got := widens(&c.old, &c.now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
