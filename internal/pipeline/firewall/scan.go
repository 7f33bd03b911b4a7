package firewall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// This file goes through the arguments of a call and decides by name and form what each may be: path, command, URL,
// SQL.

// Limits of arguments. Our own tools have their own.
const (
	maxArguments = 1 << 20
	maxString    = 256 << 10
	maxContent   = 4 << 20 // in a member that is named like content
	maxDepth     = 32
	maxKeys      = 1000
	maxItems     = 10_000
)

// kind is the kind of value that an argument holds.
type kind uint8

const (
	unspecified kind = iota // neither the schema nor the name shows the kind
	filePath
	command
	address
	statement // SQL
	plainText // never judged, whatever it looks like
)

// kindMark is the schema keyword with which a tool declares the kind of an argument.
const kindMark = "x-collie-kind"

var markKinds = map[string]kind{"path": filePath, "glob": filePath, "command": command, "url": address, "sql": statement, "text": plainText}

// judgeArguments judges all arguments. Our own tools are exempt: their paths are paths of notes, and they check
// themselves what they read or write on this machine.
func (j *judgement) judgeArguments(args json.RawMessage) {
	if j.action.Risk != "" || len(args) == 0 {
		return
	}
	switch {
	case len(args) > maxArguments:
		j.report(Deny, "shape.size", fmt.Sprintf("the arguments have %d bytes, more than %d", len(args), maxArguments))
		return
	case !utf8.Valid(args):
		j.report(Deny, "shape.utf8", "the arguments are not UTF-8")
		return
	case !gjson.ValidBytes(args):
		j.report(Deny, "shape.json", "the arguments are not JSON")
		return
	}
	marked := gjson.Result{}
	if bytes.Contains(j.action.InputSchema, []byte(kindMark)) {
		marked = gjson.GetBytes(j.action.InputSchema, "properties")
	}
	keys := 0
	j.judgeValue(gjson.ParseBytes(args), "", unspecified, marked, &keys)
}

// judgeValue judges a value of kind k; name is the closest member name above it.
func (j *judgement) judgeValue(v gjson.Result, name string, k kind, marked gjson.Result, keys *int) {
	switch {
	case v.Type == gjson.String:
		j.judgeString(v.String(), name, k)
	case v.Type != gjson.JSON:
	case len(j.at) >= maxDepth:
		j.report(Deny, "shape.depth", fmt.Sprintf("the arguments are nested deeper than %d", maxDepth))
	case v.IsArray():
		j.judgeList(v, name, k, keys)
	default:
		j.judgeObject(v, marked, keys)
	}
}

// judgeList judges a list: as one command with its arguments if its kind is command, else item by item.
func (j *judgement) judgeList(v gjson.Result, name string, k kind, keys *int) {
	if k == command && !strings.HasSuffix(strings.ToLower(name), "commands") { // an argument called commands holds one command an item
		if argv, ok := texts(v); ok {
			j.touched.command(argv, func() { j.judgeArgv(argv, v.Raw) })
			return
		}
	}
	i := 0
	v.ForEach(func(_, item gjson.Result) bool {
		if i >= maxItems {
			j.report(Deny, "shape.items", fmt.Sprintf("a list has more than %d items", maxItems))
			return false
		}
		j.at = append(j.at, strconv.Itoa(i))
		j.judgeValue(item, name, k, gjson.Result{}, keys)
		j.at = j.at[:len(j.at)-1]
		i++
		return true
	})
}

// judgeObject judges the members of an object. A program and its arguments in two members are judged as one command.
func (j *judgement) judgeObject(v, marked gjson.Result, keys *int) {
	var seen [16]string
	names := seen[:0]
	var program, perhaps, list gjson.Result
	var programAt, perhapsAt, listAt string
	outer, runs, late := j.cwd, j.runs, false
	defer func() { j.cwd, j.runs = outer, runs }()
	v.ForEach(func(key, item gjson.Result) bool {
		name := key.String()
		if *keys++; *keys > maxKeys {
			j.report(Deny, "shape.keys", fmt.Sprintf("the arguments have more than %d members", maxKeys))
			return false
		}
		if slices.Contains(names, name) {
			j.report(Deny, "shape.duplicate", fmt.Sprintf("member %q is given twice", name))
		}
		late = j.noteFolder(name, item) && len(names) > 0 || late
		names = append(names, name)
		k := memberOf(name).kind
		if marked.Exists() {
			if m, ok := markKinds[marked.Get(gjson.Escape(name)+"."+kindMark).String()]; ok {
				k = m
			}
		}
		switch {
		case k == command && item.Type == gjson.String:
			program, programAt = item, name
			return true
		case item.IsArray() && (name == "args" || name == "arguments" || name == "argv"):
			list, listAt = item, name
		case item.Type == gjson.String && (name == "program" || name == "executable" || name == "binary"):
			perhaps, perhapsAt = item, name
		case item.IsObject() && item.Raw != "{}" && (name == "env" || name == "environment"):
			j.touched.addUnknown() // what they change is not in the command
			j.report(Ask, "command.environment", "it sets variables of the environment, which may change what programs do")
		}
		j.at = append(j.at, name)
		j.judgeValue(item, name, k, gjson.Result{}, keys)
		j.at = j.at[:len(j.at)-1]
		return true
	})
	if late { // members before the one that names the folder were judged without it, so they are judged again
		touched := j.touched
		j.touched = nil // what the call touches is known already
		v.ForEach(func(key, item gjson.Result) bool {
			name := key.String()
			if k := memberOf(name).kind; k != command && (item.Type == gjson.String || item.IsArray()) {
				j.at = append(j.at, name)
				j.judgeValue(item, name, k, gjson.Result{}, keys)
				j.at = j.at[:len(j.at)-1]
			}
			return true
		})
		j.touched = touched
	}
	if !program.Exists() && list.Exists() {
		program, programAt = perhaps, perhapsAt
	}
	if !program.Exists() {
		if argv, ok := texts(list); ok && len(argv) > 0 && listAt == "argv" {
			j.touched.command(argv, func() { j.judgeArgv(argv, list.Raw) })
		}
		return
	}
	j.at = append(j.at, programAt)
	if argv, ok := texts(list); ok && len(argv) > 0 {
		argv = append([]string{program.String()}, argv...)
		j.touched.command(argv, func() { j.judgeArgv(argv, program.Raw+list.Raw) })
	} else {
		j.judgeString(program.String(), programAt, command)
	}
	j.at = j.at[:len(j.at)-1]
}

// noteFolder notes the folder or the language that a member names, and reports whether it does.
func (j *judgement) noteFolder(name string, item gjson.Result) bool {
	if item.Type != gjson.String {
		return false
	}
	switch m := memberOf(name); {
	case m.isFolder:
		p, relative := j.canonical(item.String())
		if !relative {
			j.cwd = j.resolve(p, false)
		}
		return !relative
	case m.isRuntime:
		j.runs = strings.ToLower(item.String())
		return true
	}
	return false
}

// texts returns the items of a list of strings.
func texts(v gjson.Result) ([]string, bool) {
	if !v.IsArray() {
		return nil, false
	}
	var out []string
	ok := true
	v.ForEach(func(_, item gjson.Result) bool {
		out = append(out, item.String())
		ok = item.Type == gjson.String && len(out) <= maxItems
		return ok
	})
	return out, ok
}

// judgeString judges one string.
func (j *judgement) judgeString(s, name string, k kind) {
	m := memberOf(name)
	if limit := m.maxBytes(); len(s) > limit {
		j.report(Deny, "shape.string", fmt.Sprintf("a text has %d bytes, more than %d", len(s), limit))
		return
	}
	switch {
	case k == plainText || s == "":
	case k == command:
		j.touched.command(j.commandWords(s), func() { j.judgeCommand(s) })
	case k == statement || m.isQuery && (speaksSQL(j.server, j.action.Name) && beginsSQL(s) || isShapedLikeSQL(s)):
		j.touched.addUnknown()
		j.judgeSQL(s)
	case k == address || looksLikeURL(s):
		j.judgeURL(s, k == address)
	case j.isCode(m, k):
		j.judgeCode(s)
	case k == filePath || looksLikePath(s):
		j.goes = m.isWork
		defer func() { j.goes = false }()
		j.judgePath(s, k == filePath || m.isPlace)
	case m.isHost:
		j.judgeBareHost(s)
	}
}
