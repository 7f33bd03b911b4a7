package validate

import (
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// names are the top-level arguments that a schema names, even if it allows others.
type names struct {
	known    map[string]bool
	patterns []jsonschema.Regexp
}

// namesOf collects the names from s and from all schemas that it applies to the same value.
func namesOf(s *jsonschema.Schema) *names {
	n := &names{known: make(map[string]bool)}
	seen := make(map[*jsonschema.Schema]bool)
	var visit func(*jsonschema.Schema)
	visit = func(s *jsonschema.Schema) {
		if seen[s] {
			return
		}
		seen[s] = true
		for name := range s.Properties {
			n.known[name] = true
		}
		for re := range s.PatternProperties {
			n.patterns = append(n.patterns, re)
		}
		eachInPlace(s, visit)
	}
	visit(s)
	return n
}

func (n *names) has(name string) bool {
	return n.known[name] || slices.ContainsFunc(n.patterns, func(re jsonschema.Regexp) bool { return re.MatchString(name) })
}

func (n *names) sorted() []string { return slices.Sorted(maps.Keys(n.known)) }

// unknown returns the names in obj that are not in n, sorted.
func (n *names) unknown(obj map[string]any) []string {
	var out []string
	for name := range obj {
		if !n.has(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
