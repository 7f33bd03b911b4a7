package validate

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// This file explains why a value matches none of the alternatives of anyOf or oneOf.

// explainBranches explains why the value at "at" matches none of its branches. If all branches required a different
// type, a different value at one place, or one more name, that is said once; otherwise it explains the branch
// that the caller most likely meant.
func (x *explainer) explainBranches(at []string, causes []*jsonschema.ValidationError) []problem {
	var branches [][]problem
	for _, c := range causes {
		if ps := inOrder(x.problems(c)); len(ps) > 0 {
			branches = append(branches, ps)
		}
	}
	if len(branches) == 0 {
		return singleProblem(at, "has none of the forms it may have")
	}
	if p, ok := x.mergeTypes(at, branches); ok {
		return []problem{p}
	}
	if p, ok := x.mergeValues(branches); ok {
		return []problem{p}
	}
	if p, ok := mergeMissing(at, branches); ok {
		return []problem{p}
	}
	return slices.MinFunc(branches, func(a, b []problem) int { return distance(at, a) - distance(at, b) })
}

// mergeTypes merges branches that all required a different type.
func (x *explainer) mergeTypes(at []string, branches [][]problem) (problem, bool) {
	var want []string
	for _, ps := range branches {
		i := slices.IndexFunc(ps, func(p problem) bool { return p.types != nil && slices.Equal(p.at, at) })
		if i < 0 {
			return problem{}, false
		}
		for _, t := range ps[i].types {
			if !slices.Contains(want, t) {
				want = append(want, t)
			}
		}
	}
	return x.wrongTypeProblem(at, new(jsonschema.Schema), want), true
}

// mergeValues merges branches that all required a different value at the same place, which is how the variants
// of a tagged union fail.
func (x *explainer) mergeValues(branches [][]problem) (problem, bool) {
	for _, first := range branches[0] {
		var want []any
		for _, ps := range branches {
			i := slices.IndexFunc(ps, func(p problem) bool { return p.values != nil && slices.Equal(p.at, first.at) })
			if i < 0 {
				want = nil
				break
			}
			want = append(want, ps[i].values...)
		}
		if want != nil {
			return x.wrongValueProblem(first.at, new(jsonschema.Schema), want), true
		}
	}
	return problem{}, false
}

// mergeMissing merges branches in which only names of the object at "at" are missing.
func mergeMissing(at []string, branches [][]problem) (problem, bool) {
	var ways []string
	for _, ps := range branches {
		var lacks []string
		for _, p := range ps {
			if p.missing == nil || len(p.at) != len(at)+1 {
				return problem{}, false
			}
			for _, name := range p.missing {
				lacks = append(lacks, quoted(name))
			}
		}
		if way := strings.Join(lacks, " and "); !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	more := ""
	if len(ways) > maxListed {
		ways, more = ways[:maxListed], ", …"
	}
	text := "required " + memberNoun(at) + " " + strings.Join(ways, ", or ") + more + " is missing" + objectPlace(at)
	return problem{at: at, text: text, whole: true, missing: []string{text}}, true
}

// distance says how far the given value is from a branch with these problems. A wrong type of the value
// itself weighs most, then a wrong tag, then names.
func distance(at []string, ps []problem) int {
	d := 0
	for _, p := range ps {
		switch {
		case p.types != nil && slices.Equal(p.at, at):
			d += 10_000
		case p.values != nil:
			d += 100
		case p.missing != nil, p.unknown:
			d += 20
		default:
			d += 5
		}
	}
	return d
}
