package kerneltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file compares answers with recorded ones, whose ids and times differ.

// comparer compares answers with recordings. Ids differ between runs, so it learns which of ours corresponds to which
// recorded one and then insists on it. Of times, hashes and sizes it only checks the form.
type comparer struct {
	// ids maps a recorded id to ours.
	ids map[string]string
	// sent are the ids in requests.
	sent map[string]bool
	// frozen says that the entries of the current list cannot be told apart, so nothing is learned from it.
	frozen bool
	// cut says that lists of the recording end after two entries, and that long texts are replaced by a word.
	cut bool
	// diffs are the differences of the current answer, grave ones first, by path.
	diffs []Difference
}

// Difference is one difference between a recorded answer and that of a handler.
type Difference struct {
	// Path is a JSON Pointer into the answer, or status or body.
	Path string
	// Text says what was recorded and what came.
	Text string
	// Deep says that only values differ. Otherwise the shape does: a status, a type, a key.
	Deep bool
}

func (d Difference) String() string { return d.Path + ": " + d.Text }

func newComparer() *comparer { return &comparer{ids: map[string]string{}, sent: map[string]bool{}} }

var (
	// Ids and other values that differ in each run and are used later: hashes of snapshots, times and folders of the
	// history.
	idInText        = regexp.MustCompile(`\d{14}-[0-9a-z]{7}|\b[0-9a-f]{40}\b|\b1\d{9}\b|\b20\d\d-\d\d-\d\d-\d{6}\b`)
	chosenID        = regexp.MustCompile(`^(2024|2023|209|2098)`) // ids chosen by requests
	stampText       = regexp.MustCompile(`\b20\d{12}\b`)
	clockText       = regexp.MustCompile(`20\d\d-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?(, [a-z0-9 ]+)?`)
	dateText        = regexp.MustCompile(`20\d\d-\d\d-\d\d`)
	monthText       = regexp.MustCompile(`\b20\d\d/\d\d\b`)
	dayText         = regexp.MustCompile(`\b20\d{6}\b`)
	ialInText       = regexp.MustCompile(`\{:(?: [\w-]+="[^"]*")+\}`)
	nodeInText      = regexp.MustCompile(`data-type="(Node\w+)"`)
	markup          = regexp.MustCompile(`<[^>]*>`)
	attributeInText = regexp.MustCompile(`([\w:-]+)="([^"]*)"`)
	zeroWidth       = strings.NewReplacer("\u200b", "", "\u200d", "")
)

// looseKeys have values that depend on the machine, the time or the kernel's hashing.
var looseKeys = map[string]bool{
	"mtime": true, "ctime": true, "hMtime": true, "hCtime": true, "size": true, "hSize": true, "updated": true,
	"created": true, "hash": true, "sort": true, "timestamp": true, "ial": false,
}

// compare records the differences between a recorded value and ours.
func (c *comparer) compare(path, key string, want, got any) {
	switch want := want.(type) {
	case map[string]any:
		object, sameType := got.(map[string]any)
		if !sameType {
			c.shape(path, "an object was recorded, this is %s %s", kindOf(got), short(got))
			return
		}
		c.object(path, want, object)
	case []any:
		list, sameType := got.([]any)
		if !sameType {
			c.shape(path, "a list was recorded, this is %s %s", kindOf(got), short(got))
			return
		}
		c.list(path, key, want, list)
	default:
		c.scalar(path, key, want, got)
	}
}

func (c *comparer) shape(path, format string, args ...any) {
	c.diffs = append(c.diffs, Difference{Path: path, Text: fmt.Sprintf(format, args...)})
}

func (c *comparer) value(path string, want, got any) {
	c.diffs = append(c.diffs, Difference{Path: path, Text: fmt.Sprintf("recorded %s, got %s", short(want), short(got)), Deep: true})
}

func (c *comparer) object(path string, want, got map[string]any) {
	// Keys may be ids, so they are compared under their names in this run.
	ours := map[string]any{}
	for key, v := range want {
		ours[c.mapped(key)] = v
	}
	for _, key := range slices.Sorted(maps.Keys(ours)) {
		held, found := got[key]
		if !found {
			c.shape(path+"/"+key, "recorded, but not here")
			continue
		}
		c.compare(path+"/"+key, key, ours[key], held)
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, found := ours[key]; !found {
			c.shape(path+"/"+key, "here, but never recorded")
		}
	}
}

func (c *comparer) list(path, key string, want, got []any) {
	if c.cut && len(want) == 2 && len(got) > 2 {
		got = got[:2]
	}
	if len(want) != len(got) {
		c.diffs = append(c.diffs, Difference{Path: path, Text: fmt.Sprintf("%d entries were recorded, here are %d", len(want), len(got)), Deep: len(want) > 0 && len(got) > 0})
	}
	for i := range min(len(want), len(got)) {
		c.compare(fmt.Sprintf("%s/%d", path, i), key, want[i], got[i])
	}
}

func (c *comparer) scalar(path, key string, want, got any) {
	if kindOf(want) != kindOf(got) {
		c.shape(path, "recorded %s %s, this is %s %s", kindOf(want), short(want), kindOf(got), short(got))
		return
	}
	text, isText := want.(string)
	switch {
	case isText:
		c.text(path, key, text, got.(string))
	case looseKeys[key] || looksLikeTime(want):
	case want != got:
		c.value(path, want, got)
	}
}

// looksLikeTime reports whether a number is a time in seconds or milliseconds.
func looksLikeTime(v any) bool {
	n, isNumber := v.(float64)
	return isNumber && n > 1.6e9
}

func (c *comparer) text(path, key, want, got string) {
	if looseKeys[key] {
		if (want == "") != (got == "") {
			c.value(path, want, got)
		}
		return
	}
	if c.cut && want == "(cut)" && got != "" {
		return
	}
	if len(want) == 7 && len(got) == 7 && strings.HasSuffix(path, "/data/id") {
		return // the id of a message
	}
	wantIDs, gotIDs := idInText.FindAllString(want, -1), idInText.FindAllString(got, -1)
	if len(wantIDs) == len(gotIDs) {
		for i, id := range wantIDs {
			c.learn(id, gotIDs[i])
		}
	}
	want = c.mapped(want)
	if c.frozen {
		want, got = c.masked(want), c.masked(got)
	}
	a, b := c.normal(want), c.normal(got)
	if a != b && !alike[a][b] {
		at := differ(a, b)
		c.value(path, a[at:], b[at:])
	}
}

// alike lists texts that the kernel uses interchangeably for one case.
var alike = map[string]map[string]bool{"indexing": {"tree not found": true}, "tree not found": {"indexing": true}}

// differ returns where to begin to show two texts so that their first difference is visible.
func differ(a, b string) int {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	if at = max(at-40, 0); at > 0 {
		for at < len(a) && at < len(b) && !utf8.RuneStart(a[at]) {
			at++
		}
	}
	return min(at, len(a), len(b))
}

// learn records that ours corresponds to a recorded id, unless a request chose the id or it is known already. An id
// with an old time that no request held is that of a database cell, which begins like its row's id.
func (c *comparer) learn(recorded, ours string) {
	if _, known := c.ids[recorded]; !known && !c.frozen && !(chosenID.MatchString(recorded) && c.sent[recorded]) {
		c.ids[recorded] = ours
	}
}

// masked hides ids of this run that do not correspond to any recorded id yet.
func (c *comparer) masked(text string) string {
	known := map[string]bool{}
	for _, id := range c.ids {
		known[id] = true
	}
	return idInText.ReplaceAllStringFunc(text, func(id string) string {
		if known[id] || chosenID.MatchString(id) {
			return id
		}
		return "<id>"
	})
}

// mapped replaces recorded ids by ours; unknown ids stay.
func (c *comparer) mapped(text string) string {
	return idInText.ReplaceAllStringFunc(text, func(id string) string {
		if ours, known := c.ids[id]; known {
			return ours
		}
		return id
	})
}

// asked returns a part of a request with recorded ids replaced by ours, and records which ids requests hold.
func (c *comparer) asked(text string) string {
	return idInText.ReplaceAllStringFunc(text, func(id string) string {
		c.sent[id] = true
		if ours, known := c.ids[id]; known {
			return ours
		}
		return id
	})
}

// normal removes from a text what differs in each run: times, the order of attributes, details of the DOM.
func (c *comparer) normal(text string) string {
	text = zeroWidth.Replace(text)
	if strings.HasPrefix(text, "<div ") && nodeInText.MatchString(text) {
		var nodes []string
		for _, m := range nodeInText.FindAllStringSubmatch(text, -1) {
			nodes = append(nodes, m[1])
		}
		return strings.Join(nodes, " ") + " | " + strings.Join(strings.Fields(markup.ReplaceAllString(text, " ")), " ")
	}
	text = ialInText.ReplaceAllStringFunc(text, func(list string) string {
		pairs := attributeInText.FindAllString(list, -1)
		slices.Sort(pairs)
		return "{: " + strings.Join(pairs, " ") + "}"
	})
	text = stampInIDs(text)
	text = clockText.ReplaceAllString(text, "<time>")
	text = dateText.ReplaceAllString(text, "<date>")
	text = monthText.ReplaceAllString(text, "<month>")
	return dayText.ReplaceAllString(text, "<day>")
}

// stampInIDs hides times in a text that are not the beginning of an id.
func stampInIDs(text string) string {
	var out strings.Builder
	for text != "" {
		at := stampText.FindStringIndex(text)
		if at == nil {
			break
		}
		out.WriteString(text[:at[0]])
		if id := idInText.FindString(text[at[0]:]); id != "" && strings.HasPrefix(text[at[0]:], id) {
			out.WriteString(id)
			text = text[at[0]+len(id):]
			continue
		}
		out.WriteString("<stamp>")
		text = text[at[1]:]
	}
	return out.String() + text
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64, json.Number:
		return "number"
	case string:
		return "text"
	case []any:
		return "list"
	}
	return "object"
}

// short returns a value cut to fit a line.
func short(v any) string {
	const limit = 240
	data, _ := json.Marshal(v)
	if runes := []rune(string(data)); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return string(data)
}
