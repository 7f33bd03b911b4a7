package mcptest

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// This file answers list requests, in pages, which may be endless.

// buildList builds the entries of tools/list.
func (s *server) buildList() {
	o := s.opts
	s.listed, s.odd = map[string]bool{}, map[string]bool{}
	for _, name := range s.offeredNames() {
		if tool, ok := s.tools[name]; ok {
			s.static = append(s.static, tool.definition(name))
		}
	}
	for i := range max(o.tools, 0) {
		s.addDefinition(generatedDefinition(i + 1))
	}
	if o.odd {
		for _, d := range OddDefinitions(o.seed) {
			s.odd[gjson.GetBytes(d, "name").Str] = true
			s.addDefinition(string(d))
		}
	}
	if o.badTools {
		for _, d := range badDefinitions() {
			s.addDefinition(d)
		}
	}
	for _, d := range gjson.GetBytes(s.list, "tools").Array() {
		s.listed[d.Get("name").Str] = true
	}
}

// addDefinition adds an entry to tools/list; a call of it answers as echo does.
func (s *server) addDefinition(definition string) {
	s.static = append(s.static, definition)
	s.listed[gjson.Get(definition, "name").Str] = true
}

// offeredNames returns the names of the built-in tools that are listed.
func (s *server) offeredNames() []string {
	o := s.opts
	switch {
	case o.offer != nil:
		return o.offer
	case o.tools >= 0:
		return nil
	default:
		return builtinNames(s.tools)
	}
}

func (s *server) listTools(_ context.Context, c *call) {
	if s.list != nil {
		c.answerParts(s.list)
		return
	}
	entries := s.static
	if s.hasExtra("tools") {
		entries = append(slices.Clip(entries), extraDefinition)
	}
	s.answerPage(c, "tools", entries)
}

// answerPage answers with the page of entries that the request's cursor points to.
func (s *server) answerPage(c *call, field string, entries []string) {
	size := s.opts.page
	if size <= 0 {
		size = max(len(entries), 1)
	}
	from, ok := s.parseCursor(c.params.Get("cursor"), len(entries))
	if !ok {
		c.refuse(codeInvalidParams, "Invalid cursor", "")
		return
	}
	to := min(from+size, len(entries))
	c.answer(c.resultStart() + `"` + field + `":[` + strings.Join(entries[from:to], ",") + `]` +
		s.nextCursor(c.params.Get("cursor"), to, len(entries)) + s.cachingMembers(c) + `}`)
}

// parseCursor returns the index of the first entry of the page. A cursor reads "from-N", N being that index. Cursors
// of endless lists read "turn-N" and "again"; both lead to the first page.
func (s *server) parseCursor(cursor gjson.Result, entries int) (int, bool) {
	text := cursor.String()
	if text == "" || text == "again" || strings.HasPrefix(text, "turn-") {
		return 0, true
	}
	digits, ok := strings.CutPrefix(text, "from-")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0 && n <= entries
}

func (s *server) nextCursor(cursor gjson.Result, to, entries int) string {
	switch {
	case s.opts.repeatCursor:
		return `,"nextCursor":"again"`
	case s.opts.endlessCursor:
		turn, _ := strconv.Atoi(strings.TrimPrefix(cursor.String(), "turn-"))
		return `,"nextCursor":"turn-` + strconv.Itoa(turn+1) + `"`
	case to < entries:
		return `,"nextCursor":"from-` + strconv.Itoa(to) + `"`
	default:
		return ""
	}
}
