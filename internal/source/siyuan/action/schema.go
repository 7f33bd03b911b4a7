package action

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// metaParams are the arguments beside an action's own: of those that read, and of those that
// write.
var metaParams = sync.OnceValue(func() (out struct{ reads, writes []Param }) {
	out.reads = paramsOf(reflect.TypeFor[metaArgs]())
	out.writes = append(paramsOf(reflect.TypeFor[metaArgs]()), paramsOf(reflect.TypeFor[writeArgs]())...)
	return out
})

// metaOf are the arguments beside an action's own. They are not to be changed.
func metaOf(a *Action) []Param {
	if a.Class.Writes() {
		return metaParams().writes
	}
	return metaParams().reads
}

// schemaOf is the input schema: the action's own arguments, then those that all take.
func schemaOf(a *Action) json.RawMessage {
	return structSchema(append(append([]Param{}, a.params...), metaOf(a)...))
}

// Schema is the JSON Schema of the arguments. Names that it does not know are refused.
func (a *Action) Schema() json.RawMessage { return a.schema }

// Signature is one line that shows how the action is called: what must be given, then what may
// be, with defaults.
//
//	read(path, blockStart=0, blockLimit=50, tokenBudget=2000, includeBlockIds=false)
func (a *Action) Signature() string {
	var b strings.Builder
	b.WriteString(a.Name + "(")
	n := 0
	for _, required := range []bool{true, false} {
		for i := range a.params {
			p := &a.params[i]
			if p.Required != required {
				continue
			}
			if n++; n > 1 {
				b.WriteString(", ")
			}
			b.WriteString(p.Name)
			switch {
			case p.Required:
			case p.Default != nil:
				b.WriteString("=" + strings.Trim(string(p.Default), `"`))
			default:
				b.WriteByte('?')
			}
		}
	}
	return b.String() + ")"
}

// MetaNames are the names of the arguments that the action takes beside its own.
func (a *Action) MetaNames() []string {
	var out []string
	for _, p := range metaOf(a) {
		out = append(out, p.Name)
	}
	return out
}
