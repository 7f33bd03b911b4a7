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
	maxCwds      = 4 // folders in which the same relative paths may lie
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
	j.judgeValue(gjson.ParseBytes(args), "", unspecified, marked)
}

// judgeValue judges a value of kind k; name is the closest member name above it.
func (j *judgement) judgeValue(v gjson.Result, name string, k kind, marked gjson.Result) {
	switch {
	case v.Type == gjson.String:
		j.judgeString(v.String(), name, k)
	case v.Type != gjson.JSON:
	case len(j.place) >= maxDepth:
		j.report(Deny, "shape.depth", fmt.Sprintf("the arguments are nested deeper than %d", maxDepth))
	case v.IsArray():
		j.judgeList(v, name, k)
	default:
		j.judgeObject(v, marked)
	}
}

// judgeList judges a list: as one command with its arguments if its kind is command, else item by item.
func (j *judgement) judgeList(v gjson.Result, name string, k kind) {
	if k == command && !strings.HasSuffix(strings.ToLower(name), "commands") { // an argument called commands holds one command an item
		if argv, ok := stringItems(v); ok {
			j.judgeTouchedArgv(argv, v.Raw)
			return
		}
	}
	i := 0
	v.ForEach(func(_, item gjson.Result) bool {
		if i >= maxItems {
			j.report(Deny, "shape.items", fmt.Sprintf("a list has more than %d items", maxItems))
			return false
		}
		j.place = append(j.place, strconv.Itoa(i))
		j.judgeValue(item, name, k, gjson.Result{})
		j.place = j.place[:len(j.place)-1]
		i++
		return true
	})
}

// judgeObject judges the members of an object. A program and its arguments in two members are judged as one command.
func (j *judgement) judgeObject(v, marked gjson.Result) {
	var seen [16]string
	names := seen[:0]
	var runs invocation
	outer, language, late := j.cwds, j.codeLanguage, false
	defer func() { j.cwds, j.codeLanguage = outer, language }()
	j.noteLanguage(v)
	v.ForEach(func(key, item gjson.Result) bool {
		name := key.String()
		if j.memberCount++; j.memberCount > maxKeys {
			j.report(Deny, "shape.keys", fmt.Sprintf("the arguments have more than %d members", maxKeys))
			return false
		}
		if slices.Contains(names, name) {
			j.report(Deny, "shape.duplicate", fmt.Sprintf("member %q is given twice", name))
		}
		late = j.noteFolder(name, item) && len(names) > 0 || late
		names = append(names, name)
		k := kindIn(marked, name)
		if runs.note(name, item, k) {
			return true
		}
		if item.IsObject() && item.Raw != "{}" && (name == "env" || name == "environment") {
			j.touched.addUnknown() // what they change is not in the command
			j.report(Ask, "command.environment", "it sets variables of the environment, which may change what programs do")
		}
		j.place = append(j.place, name)
		j.judgeValue(item, name, k, gjson.Result{})
		j.place = j.place[:len(j.place)-1]
		return true
	})
	if late { // members before the one that names the folder were judged without it, so they are judged again
		touched := j.touched
		j.touched = nil // what the call touches is known already
		v.ForEach(func(key, item gjson.Result) bool {
			name := key.String()
			if k := kindIn(marked, name); k != command && (item.Type == gjson.String || item.IsArray()) {
				j.place = append(j.place, name)
				j.judgeValue(item, name, k, gjson.Result{})
				j.place = j.place[:len(j.place)-1]
			}
			return true
		})
		j.touched = touched
	}
	j.judgeInvocation(&runs)
}

// kindIn returns the kind of a member, by the properties of a schema that mark it or else by its name.
func kindIn(marked gjson.Result, name string) kind {
	if marked.Exists() {
		if k, ok := markKinds[marked.Get(gjson.Escape(name)+"."+kindMark).String()]; ok {
			return k
		}
	}
	return memberOf(name).kind
}

// noteFolder notes the folder that a member names, and reports whether it does.
func (j *judgement) noteFolder(name string, item gjson.Result) bool {
	if item.Type != gjson.String || !memberOf(name).isFolder {
		return false
	}
	p, relative := j.canonical(item.String())
	switch p = j.resolve(p, relative); {
	case relative, slices.Contains(j.cwds, p):
		return false
	case len(j.cwds) == maxCwds:
		j.report(Ask, "path.many", fmt.Sprintf("it names more than %d folders to work in", maxCwds))
		return false
	}
	j.cwds = append(slices.Clip(j.cwds), p) // which one the tool takes is not known
	return true
}

// judgeString judges one string, and what it holds if it is JSON.
func (j *judgement) judgeString(s, name string, k kind) {
	m := memberOf(name)
	if limit := m.maxBytes(); len(s) > limit {
		j.report(Deny, "shape.string", fmt.Sprintf("a text has %d bytes, more than %d", len(s), limit))
		return
	}
	if !j.saysMore && k != plainText && s != "" && !j.isKnownBeside(m, s, k) {
		j.saysMore = true
	}
	if inner, ok := j.innerJSON(m, s, k); ok {
		j.judgeValue(inner, name, k, gjson.Result{})
	}
	switch {
	case k == plainText || s == "":
	case k == command:
		j.touched.addCommand(j.commandWords(s), func() { j.judgeCommand(s) })
	case k == statement || m.isQuery && (speaksSQL(j.server, j.action.Name) && beginsSQL(s) || isShapedLikeSQL(s)):
		j.touched.addUnknown()
		j.judgeSQL(s)
	case k == address || looksLikeURL(s):
		j.judgeURL(s, k == address)
	case j.isCode(m, k):
		j.judgeCode(s)
	case k == filePath || looksLikePath(s):
		j.judgesCwd = m.isWork
		defer func() { j.judgesCwd = false }()
		j.judgePath(s, k == filePath || m.isPlace)
	case m.isHost:
		j.judgeBareHost(s)
	}
}

// innerJSON returns the object or list that a text in member m holds, if the tool may read it as such: servers and the
// stage validate take a text for an argument that is an object or a list.
func (j *judgement) innerJSON(m *member, s string, k kind) (inner gjson.Result, ok bool) {
	trimmed := strings.TrimLeft(s, " \t\r\n")
	if trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' || k == plainText || !gjson.Valid(trimmed) || !j.mayRead(m) {
		return gjson.Result{}, false
	}
	return gjson.Parse(trimmed), true
}

// mayRead reports whether the argument at the current place may be something else than a text, by the schema of the
// tool. Where the schema does not say it, texts within others and those that are named like one stay texts.
func (j *judgement) mayRead(m *member) bool {
	schema := gjson.ParseBytes(j.action.InputSchema)
	for _, name := range j.place {
		inner := schema.Get("properties").Get(gjson.Escape(name))
		if !inner.Exists() {
			inner = schema.Get("items")
		}
		if schema = inner; !schema.Exists() {
			return len(j.place) == 1 && !m.isContent && !m.isText && !m.isCode && !m.isQuery
		}
	}
	texts, known := true, false
	for _, path := range []string{"type", "anyOf.#.type", "oneOf.#.type"} {
		for _, t := range schema.Get(path).Array() {
			if t.Type == gjson.String {
				known, texts = true, texts && (t.Str == "string" || t.Str == "null")
			}
		}
	}
	return !known || !texts
}
