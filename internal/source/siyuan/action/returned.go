package action

import (
	"reflect"
	"slices"
	"strings"
)

// Returned are the members of the action's result in their order there: those that the tags of [Spec.Result] describe,
// with the fields of [Spec.Returns] in the place of these. A field of Returns with nothing about it leaves the member
// out; one that no member of Result has comes at the end. It is safe for concurrent use.
func (a *Action) Returned() []Field { return a.returned() }

func returnedBy(spec *Spec) []Field {
	if spec.Result == nil {
		return spec.Returns
	}
	said := map[string]Field{}
	for _, f := range spec.Returns {
		said[f.Name] = f
	}
	var out []Field
	for _, f := range membersOf(reflect.TypeOf(spec.Result), "", nil, nil) {
		if other, ok := said[f.Name]; ok {
			f = other
			delete(said, f.Name)
		}
		if f.About != "" {
			out = append(out, f)
		}
	}
	for _, f := range spec.Returns {
		if _, left := said[f.Name]; left {
			out = append(out, f)
		}
	}
	return out
}

// membersOf appends the members of what a value of type t is as JSON, each before what is in it. within are the structs
// on the way, since a tree holds trees.
func membersOf(t reflect.Type, prefix string, within []reflect.Type, out []Field) []Field {
	switch t.Kind() {
	case reflect.Pointer:
		return membersOf(t.Elem(), prefix, within, out)
	case reflect.Slice:
		return membersOf(t.Elem(), strings.TrimSuffix(prefix, ".")+"[].", within, out)
	case reflect.Struct:
		if slices.Contains(within, t) {
			return out
		}
		within = append(within, t)
		for field := range t.Fields() {
			out = memberOf(field, prefix, within, out)
		}
	}
	return out
}

func memberOf(f reflect.StructField, prefix string, within []reflect.Type, out []Field) []Field {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case f.Anonymous && name == "":
		return membersOf(f.Type, prefix, within, out)
	case name == "-" || !f.IsExported():
		return out
	case name == "":
		name = f.Name
	}
	out = append(out, Field{Name: prefix + name, About: f.Tag.Get("about"), Verbose: f.Tag.Get("verbose") == "yes"})
	return membersOf(f.Type, prefix+name+".", within, out)
}
