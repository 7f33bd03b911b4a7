package action

import (
	"reflect"
	"strings"
)

// Returned returns the members of the action's result in order, described by the tags of [Spec.Result]. If a struct
// occurs again in the result, only its verbose members are repeated, since the others are the same. It is safe for
// concurrent use.
func (a *Action) Returned() []Field { return a.returned() }

func returnedBy(spec *Spec) []Field {
	d := resultDescription{seen: map[reflect.Type]bool{}}
	if spec.Result != nil {
		d.addValue(reflect.TypeOf(spec.Result), "")
	}
	return d.fields
}

// resultDescription collects the members of a result's types.
type resultDescription struct {
	fields []Field
	seen   map[reflect.Type]bool
}

// addValue adds the members of a value of type t in JSON, each before its own members.
func (d *resultDescription) addValue(t reflect.Type, prefix string) {
	switch t.Kind() {
	case reflect.Pointer:
		d.addValue(t.Elem(), prefix)
	case reflect.Slice:
		d.addValue(t.Elem(), strings.TrimSuffix(prefix, ".")+"[].")
	case reflect.Struct:
		again := d.seen[t]
		d.seen[t] = true
		for field := range t.Fields() {
			d.addMember(field, prefix, again)
		}
	}
}

func (d *resultDescription) addMember(f reflect.StructField, prefix string, again bool) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case f.Anonymous && name == "":
		d.addValue(f.Type, prefix)
		return
	case name == "-" || !f.IsExported():
		return
	case name == "":
		name = f.Name
	}
	field := Field{Name: prefix + name, About: f.Tag.Get("about"), Verbose: f.Tag.Get("verbose") == "yes"}
	if field.About != "" && (field.Verbose || !again) {
		d.fields = append(d.fields, field)
	}
	if !again && !field.Verbose { // otherwise it is left out together with its members
		d.addValue(f.Type, prefix+name+".")
	}
}
