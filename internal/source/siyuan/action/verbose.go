package action

import (
	"reflect"
	"strings"
)

// This file finds the members of a result that are left out unless the caller asks for all.

// Members lists the members of a value that are left out of a result unless the caller asks for all. Nil leaves
// out nothing at any depth.
type Members struct {
	leaveOut bool
	byName   map[string]*Members // for members of an object
	items    *Members            // for items of a list
}

// Verbose returns the members of the action's result that only verbose:true shows, by the tags of [Spec.Result]. It
// is safe for concurrent use.
func (a *Action) Verbose() *Members { return a.verbose() }

// IsLeftOut reports whether the value itself is left out.
func (m *Members) IsLeftOut() bool { return m != nil && m.leaveOut }

// Member returns the Members for a member of an object.
func (m *Members) Member(name []byte) *Members {
	if m == nil {
		return nil
	}
	return m.byName[string(name)]
}

// Items returns the Members for the items of a list.
func (m *Members) Items() *Members {
	if m == nil {
		return nil
	}
	return m.items
}

// verboseOf reads the tags of a result's type.
func verboseOf(result any) *Members {
	if result == nil {
		return nil
	}
	m := membersOf(reflect.TypeOf(result), map[reflect.Type]*Members{})
	pruned := map[*Members]bool{}
	return m.pruned(pruned)
}

// membersOf returns the Members for a type. A recursive type refers back to its entry in seen.
func membersOf(t reflect.Type, seen map[reflect.Type]*Members) *Members {
	switch t.Kind() {
	case reflect.Pointer:
		return membersOf(t.Elem(), seen)
	case reflect.Slice:
		return &Members{items: membersOf(t.Elem(), seen)}
	case reflect.Struct:
		m := seen[t]
		if m == nil {
			m = &Members{byName: map[string]*Members{}}
			seen[t] = m
			m.addFields(t, seen)
		}
		return m
	}
	return nil
}

func (m *Members) addFields(t reflect.Type, seen map[reflect.Type]*Members) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			for f.Type.Kind() == reflect.Pointer {
				f.Type = f.Type.Elem()
			}
			if f.Type.Kind() == reflect.Struct {
				m.addFields(f.Type, seen)
			}
			continue
		case name == "-" || !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		if f.Tag.Get("verbose") == "yes" {
			m.byName[name] = &Members{leaveOut: true}
		} else if below := membersOf(f.Type, seen); below != nil {
			m.byName[name] = below
		}
	}
}

// pruned returns m without branches that leave nothing out, so that a walk along it can stop early.
func (m *Members) pruned(done map[*Members]bool) *Members {
	if m == nil || !m.leavesAnythingOut(map[*Members]bool{}) {
		return nil
	}
	if !done[m] {
		done[m] = true
		m.items = m.items.pruned(done)
		for name, below := range m.byName {
			if m.byName[name] = below.pruned(done); m.byName[name] == nil {
				delete(m.byName, name)
			}
		}
	}
	return m
}

// leavesAnythingOut reports whether m or anything below it is left out.
func (m *Members) leavesAnythingOut(seen map[*Members]bool) bool {
	if m == nil || seen[m] {
		return false
	}
	seen[m] = true
	if m.leaveOut || m.items.leavesAnythingOut(seen) {
		return true
	}
	for _, below := range m.byName {
		if below.leavesAnythingOut(seen) {
			return true
		}
	}
	return false
}
