package action

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// metaParams are the arguments besides an action's own, for actions that read and for those that write.
var metaParams = sync.OnceValue(func() (out struct{ reads, writes []Param }) {
	out.reads = paramsOf(reflect.TypeFor[metaArgs]())
	out.writes = append(paramsOf(reflect.TypeFor[metaArgs]()), paramsOf(reflect.TypeFor[writeArgs]())...)
	return out
})

// metaOf returns the arguments besides an action's own. The caller must not change them.
func metaOf(a *Action) []Param {
	if a.Class.Writes() {
		return metaParams().writes
	}
	return metaParams().reads
}

// schemaOf returns the input schema: the action's own arguments, then those that all actions take.
func schemaOf(a *Action) json.RawMessage {
	return structSchema(a.params, metaOf(a))
}

// Schema returns the JSON Schema of the arguments. Unknown names are refused.
func (a *Action) Schema() json.RawMessage { return a.schema }

// Signature returns one line that shows how to call the action: required arguments, then optional ones with their
// defaults.
//
//	read(path, blockStart=0, blockLimit=50, tokenBudget=2000, includeBlockIds=false)
func (a *Action) Signature() string {
	return a.signature(func(*Param) bool { return true })
}

// maxOptional bounds the optional arguments in a short signature.
const maxOptional = 3

// Short returns the signature for a list of tools. It has only arguments that the list declares, with … for the
// others. If there are required arguments, only few optional ones are named.
func (a *Action) Short() string {
	required, optional := 0, 0
	for i := range a.params {
		switch p := &a.params[i]; {
		case p.Required:
			required++
		case a.inToolList(p):
			optional++
		}
	}
	all := required == 0 || optional <= maxOptional
	return a.signature(func(p *Param) bool { return p.Required || all && a.inToolList(p) })
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
