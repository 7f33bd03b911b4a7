package kerneltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file learns from the recordings which requests are legal, so that tests fail for others.

// Legal returns what in a request no recording shows to be right: an unknown endpoint, a key never seen in a
// successful request, a type never seen for that key, or a missing key that all successful requests have and whose
// absence was recorded to fail. It returns nil for a legal request. It does not check below keys that hold a map with
// names of the caller's choice (see openKeys).
func Legal(c Call) error {
	g, err := grammarOf(c.Path)
	if err != nil {
		return err
	}
	if c.Form != nil {
		for _, name := range slices.Sorted(maps.Keys(c.Form)) {
			if g.parts[name] == 0 {
				return fmt.Errorf("%s: form part %q was never recorded (known: %s)", c.Path, name, strings.Join(slices.Sorted(maps.Keys(g.parts)), " "))
			}
		}
		return nil
	}
	var body any = map[string]any{}
	if c.Body != "" {
		if err := json.Unmarshal([]byte(c.Body), &body); err != nil {
			return fmt.Errorf("%s: the body is not JSON: %w", c.Path, err)
		}
	}
	seen := map[string][]string{}
	flatten(seen, "", body)
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		if excepted(c.Path, key) {
			continue
		}
		kinds := g.keys[key]
		if kinds == nil {
			problems = append(problems, fmt.Errorf("%s: key %q was never recorded (known: %s)", c.Path, key, strings.Join(slices.Sorted(maps.Keys(g.keys)), " ")))
			continue
		}
		for _, kind := range seen[key] {
			if !kinds[kind] {
				problems = append(problems, fmt.Errorf("%s: key %q is %s, recorded as %s", c.Path, key, kind, strings.Join(slices.Sorted(maps.Keys(kinds)), " or ")))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(g.required)) {
		if seen[key] == nil {
			problems = append(problems, fmt.Errorf("%s: key %q is missing", c.Path, key))
		}
	}
	return errors.Join(append(problems, legalSQL(c))...)
}

var escape = regexp.MustCompile(`(?i)\bESCAPE\b`)

// legalSQL refuses a statement that makes kernels panic: their own SQL parser cannot print a LIKE … ESCAPE that it
// has read. The parser skips a statement with a materialized expression, so that one is legal.
func legalSQL(c Call) error {
	if c.Path == "/api/query/sql" && escape.MatchString(c.Body) && !strings.Contains(c.Body, "AS MATERIALIZED (") {
		return fmt.Errorf("%s: a kernel panics over LIKE … ESCAPE", c.Path)
	}
	return nil
}

// grammar is what the recordings show to be legal for one endpoint. Keys of nested objects are written a.b, those of
// objects in lists a[].b, the elements of a list a[].
type grammar struct {
	keys     map[string]map[string]bool // key -> kinds seen in successful requests
	required map[string]bool
	parts    map[string]int // parts of a form -> times seen
}

// openKeys hold names of the caller's choice, or values of many shapes, so nothing below them is checked.
var openKeys = map[string]bool{
	"attrs": true, "conf": true, "types": true, "replaceTypes": true, "val": true, "value": true, "criterion": true,
	"undoOperations": true, "oldNew[]": true,
}

func grammarOf(endpoint string) (*grammar, error) {
	all, err := grammars()
	if err != nil {
		return nil, err
	}
	g := all[endpoint]
	if g == nil {
		return nil, fmt.Errorf("%s: no recording of this endpoint succeeded, so the kernel may not have it", endpoint)
	}
	return g, nil
}

// grammars learns from the recordings, once for the process.
var grammars = sync.OnceValues(func() (map[string]*grammar, error) {
	rows, err := recordings()
	if err != nil {
		return nil, err
	}
	byEndpoint := map[string][]Row{}
	for _, row := range rows {
		if row.TransportError == "" {
			byEndpoint[row.Endpoint()] = append(byEndpoint[row.Endpoint()], row)
		}
	}
	learned := map[string]*grammar{}
	for endpoint, rows := range byEndpoint {
		if g := learnGrammar(rows); g != nil {
			learned[endpoint] = g
		}
	}
	return learned, nil
})

// learnGrammar reads the rows of one endpoint; nil if none succeeded.
func learnGrammar(rows []Row) *grammar {
	answersData := slices.ContainsFunc(rows, func(r Row) bool { return succeeded(r) && !nullData(r) })
	good := func(r Row) bool {
		if nullData(r) && (answersData || mistaken.MatchString(r.Step)) {
			return false
		}
		return succeeded(r) && !strings.HasSuffix(r.Step, "not strings")
	}
	if !slices.ContainsFunc(rows, good) {
		// Some endpoints were only recorded with errors, for lack of an account or a tool. Their requests count as
		// legal.
		good = func(r Row) bool { return r.RespBody != nil && !mistaken.MatchString(r.Step) }
	}
	g := &grammar{keys: map[string]map[string]bool{}, parts: map[string]int{}}
	var failed []failure
	for _, row := range rows {
		if row.ReqBodyBig != nil || row.ReqRaw != nil {
			continue
		}
		seen := map[string][]string{}
		var body any = map[string]any{}
		_ = json.Unmarshal(row.ReqBody, &body)
		flatten(seen, "", body)
		if !good(row) {
			failed = append(failed, failure{seen: seen, text: row.Step + " " + string(row.RespBody)})
			continue
		}
		for _, part := range row.ReqMultipart {
			g.parts[part.Name]++
		}
		g.add(seen)
	}
	if g.required == nil {
		return nil
	}
	always := maps.Clone(g.required)
	maps.DeleteFunc(g.required, func(key string, _ bool) bool {
		return !slices.ContainsFunc(failed, func(f failure) bool { return f.blames(key, always) })
	})
	return g
}

// failure is a request that failed: its keys, and what the row says about it.
type failure struct {
	seen map[string][]string
	text string
}

// blames reports whether the missing key was the reason of the failure: it is the only key missing that successful
// requests always have, or the row names it.
func (f failure) blames(key string, always map[string]bool) bool {
	if f.seen[key] != nil {
		return false
	}
	lacking := 0
	for other := range always {
		if f.seen[other] == nil {
			lacking++
		}
	}
	return lacking == 1 || strings.Contains(f.text, "Field ["+key+"] is required")
}

// add adds the keys of a successful request.
func (g *grammar) add(seen map[string][]string) {
	for key, kinds := range seen {
		if g.keys[key] == nil {
			g.keys[key] = map[string]bool{}
		}
		for _, kind := range kinds {
			g.keys[key][kind] = true
		}
	}
	if g.required == nil {
		g.required = map[string]bool{}
		for key := range seen {
			if !strings.ContainsAny(key, ".[") {
				g.required[key] = true
			}
		}
		return
	}
	maps.DeleteFunc(g.required, func(key string, _ bool) bool { return seen[key] == nil })
}

// mistaken matches the names of steps that sent something wrong on purpose. Many were answered with code 0 and null
// data, as most writes are.
var mistaken = regexp.MustCompile(`(?i)\b(missing|wrong|malformed|not an?|numeric|string|bad (type|DOM)|without|no name|empty body|non string|mixed|unknown key|trailing|ghost)\b`)

// succeeded reports whether a row's request succeeded, as far as the answer shows that.
func succeeded(r Row) bool {
	if r.Status != 200 {
		return false
	}
	if r.RespBody == nil {
		return r.RespBinary != nil || r.RespText != nil && *r.RespText != ""
	}
	code, envelope := r.Code()
	return !envelope || code == 0
}

func nullData(r Row) bool {
	var envelope struct{ Data json.RawMessage }
	_ = json.Unmarshal(r.RespBody, &envelope)
	return r.RespBody != nil && (envelope.Data == nil || string(envelope.Data) == "null")
}

// flatten collects the types of every key below a value.
func flatten(seen map[string][]string, at string, v any) {
	if at != "" {
		seen[at] = append(seen[at], kindOf(v))
	}
	last := at[strings.LastIndex(at, ".")+1:]
	if openKeys[last] {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			flatten(seen, strings.TrimPrefix(at+"."+key, "."), below)
		}
	case []any:
		for _, below := range v {
			flatten(seen, at+"[]", below)
		}
	}
}
