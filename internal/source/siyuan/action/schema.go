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
	return structSchema(a.params, metaOf(a))
}

// Schema is the JSON Schema of the arguments. Names that it does not know are refused.
func (a *Action) Schema() json.RawMessage { return a.schema }

// Signature is one line that shows how the action is called: what must be given, then what may
// be, with defaults.
//
//	read(path, blockStart=0, blockLimit=50, tokenBudget=2000, includeBlockIds=false)
func (a *Action) Signature() string {
	return a.signature(func(*Param) bool { return true })
}

// mostOptional bounds the optional arguments that a short signature names.
const mostOptional = 3

// Short is the signature for a list of tools: with those arguments alone that the list declares,
// and … for the others. Beside required ones, many optional ones are left out.
func (a *Action) Short() string {
	required, optional := 0, 0
	for i := range a.params {
		switch p := &a.params[i]; {
		case p.Required:
			required++
		case a.lists(p):
			optional++
		}
	}
	all := required == 0 || optional <= mostOptional
	return a.signature(func(p *Param) bool { return p.Required || all && a.lists(p) })
}

func (a *Action) signature(shows func(*Param) bool) string {
	var words []string
	more := false
	for _, required := range []bool{true, false} {
		for i := range a.params {
			p := &a.params[i]
			switch {
			case p.Required != required:
			case !shows(p):
				more = true
			case p.Required:
				words = append(words, p.Name)
			case p.Default != nil:
				words = append(words, p.Name+"="+strings.Trim(string(p.Default), `"`))
			default:
				words = append(words, p.Name+"?")
			}
		}
	}
	if more {
		words = append(words, "…")
	}
	return a.Name + "(" + strings.Join(words, ", ") + ")"
}
