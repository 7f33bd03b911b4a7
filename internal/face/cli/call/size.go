package call

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file has `collie tools --size`, which measures how much of a model's context the tool list takes in each view.

// contextCost is how much of a model's context a text uses.
type contextCost struct {
	Bytes  int `json:"bytes"`
	Tokens int `json:"tokens"`
}

func costOf(text []byte) contextCost { return contextCost{len(text), tool.Tokens(text)} }

func (c contextCost) add(d contextCost) contextCost {
	return contextCost{c.Bytes + d.Bytes, c.Tokens + d.Tokens}
}

// sizeRow is the cost of one tool in each view.
type sizeRow struct {
	Name    string      `json:"name"`
	View    string      `json:"view"`
	Why     string      `json:"why"` // who chose the view; see [tool.Tool.Why]
	Actions int         `json:"actions"`
	Flat    contextCost `json:"flat"`
	Grouped contextCost `json:"grouped"`
}

// listCost is the cost of the list of tools.
type listCost struct {
	Estimate string      `json:"estimate"`
	Tools    []sizeRow   `json:"tools"`
	Flat     contextCost `json:"flat"`             // the whole list with every tool in the flat view
	Grouped  contextCost `json:"grouped"`          // with every tool in the grouped view
	Search   contextCost `json:"search"`           // with every tool in the search view
	List     contextCost `json:"list"`             // the list as it is
	Budget   *viewBudget `json:"budget,omitempty"` // if a view is auto
}

// viewBudget says how many bytes the definitions of servers may take in the list of tools if views are auto, and how many
// they take.
type viewBudget struct {
	Bytes int64 `json:"bytes"`
	Used  int   `json:"used"`

	// least estimates the size of the tool list if every server without a configured view used the smallest one.
	least int
}

const estimateNote = "tokens are an estimate: ASCII bytes / 4 + 1 for each other character"

// showSize shows the cost of a profile's tools, or only of the tool named one.
func (p commands) showSize(ctx context.Context, b root.Backend, tools []tool.Tool, one string, f *toolsFlags) error {
	profile, catalogProfile := f.profile, f.catalogProfile()
	s := listCost{Estimate: estimateNote}
	definitions := map[tool.View]map[string][]json.RawMessage{}
	for _, v := range []tool.View{tool.Flat, tool.Grouped} {
		raw, err := b.List(ctx, tool.ListTools, profile+"@"+string(v))
		if err != nil {
			return err
		}
		all, err := b.Tools(ctx, profile+"@"+string(v))
		if err != nil {
			return err
		}
		definitions[v] = byTool(raw, all)
		if v == tool.Flat {
			s.Flat = costOf(raw)
		} else {
			s.Grouped = costOf(raw)
		}
	}
	search, err := b.List(ctx, tool.ListTools, profile+"@"+string(tool.Search))
	if err != nil {
		return err
	}
	s.Search = costOf(search)
	list, err := b.List(ctx, tool.ListTools, catalogProfile)
	if err != nil {
		return err
	}
	s.List = costOf(list)
	if s.Budget, err = p.budget(f, list, tools); err != nil {
		return err
	}
	s.Tools = []sizeRow{}
	for i := range tools {
		t := &tools[i]
		if one != "" && t.Name != one {
			continue
		}
		row := sizeRow{Name: t.Name, View: string(t.View), Why: t.Why, Actions: len(definitions[tool.Flat][t.Name])}
		for _, def := range definitions[tool.Flat][t.Name] {
			row.Flat = row.Flat.add(costOf(def))
		}
		for _, def := range definitions[tool.Grouped][t.Name] {
			row.Grouped = row.Grouped.add(costOf(def))
		}
		s.Tools = append(s.Tools, row)
	}
	if s.Budget != nil {
		s.Budget.least = leastSize(&s)
	}
	if p.JSON {
		return p.PrintJSON(s)
	}
	return p.sizeTable(&s, one == "")
}

// budget returns the budget of the profile, nil if no view is auto. Our own tools do not count.
func (p commands) budget(f *toolsFlags, list json.RawMessage, tools []tool.Tool) (*viewBudget, error) {
	if !slices.ContainsFunc(tools, func(t tool.Tool) bool { return t.Why == tool.WhyAuto }) {
		return nil, nil //nolint:nilnil // no view is auto
	}
	cfg, err := p.Load()
	if err != nil {
		return nil, err
	}
	b := &viewBudget{Bytes: cfg.ContextOf(f.profile).Budget, Used: len(list)}
	for i, defs := range byTool(list, tools) {
		if t := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Name == i }); tools[t].Why != tool.WhyNotes {
			continue
		}
		for _, def := range defs {
			b.Used -= len(def) + len(",")
		}
	}
	return b, nil
}

// leastSize estimates how many bytes the definitions of servers take if auto makes them as small as it can: each tool in
// the smaller of flat and grouped, or all of them in the search view.
func leastSize(s *listCost) int {
	fixed, grouped := 0, 0
	for _, row := range s.Tools {
		switch {
		case row.Why == tool.WhyAuto:
			grouped += min(row.Flat.Bytes, row.Grouped.Bytes)
		case row.Why == tool.WhyNotes || row.View == string(tool.Search):
		case row.View == string(tool.Grouped):
			fixed += row.Grouped.Bytes
		default:
			fixed += row.Flat.Bytes
		}
	}
	return fixed + min(grouped, s.Search.Bytes)
}

// byTool groups the definitions of a list by tool. The list has them in the order of tools: one per tool in
// the grouped view, one per action in the flat view.
func byTool(list json.RawMessage, tools []tool.Tool) map[string][]json.RawMessage {
	out := map[string][]json.RawMessage{}
	defs := rawjson.Member(gjson.ParseBytes(list), "tools").Array()
	for i := range tools {
		for range entries(&tools[i]) {
			if len(defs) == 0 {
				return out
			}
			out[tools[i].Name] = append(out[tools[i].Name], json.RawMessage(defs[0].Raw))
			defs = defs[1:]
		}
	}
	return out
}

// entries returns the number of a tool's entries in the list.
func entries(t *tool.Tool) int {
	on := 0
	for i := range t.Actions {
		if a := &t.Actions[i]; t.Off == "" && a.Off == "" && !a.DirectOnly {
			on++
		}
	}
	switch t.View {
	case tool.Grouped:
		return min(on, 1)
	case tool.Search: // the search view has three entries for all its tools, at the end
		return 0
	}
	return on
}

// sizeTable prints a row for each tool. If whole is set, it adds a row for the whole list and says whether the budget is
// kept.
func (p commands) sizeTable(s *listCost, whole bool) error {
	row := func(name string, actions int, view, why string, flat, grouped contextCost) []string {
		return []string{
			name, strconv.Itoa(actions), view, why, strconv.Itoa(flat.Bytes), strconv.Itoa(flat.Tokens),
			strconv.Itoa(grouped.Bytes), strconv.Itoa(grouped.Tokens),
		}
	}
	var rows [][]string
	actions := 0
	for _, r := range s.Tools {
		rows = append(rows, row(r.Name, r.Actions, r.View, viewReason(&r), r.Flat, r.Grouped))
		actions += r.Actions
	}
	if whole {
		rows = append(rows, row("all", actions, "", "", s.Flat, s.Grouped))
	}
	if err := p.Table([]string{"TOOL", "ACTIONS", "VIEW", "WHY", "FLAT BYTES", "TOKENS", "GROUPED BYTES", "TOKENS"}, rows); err != nil {
		return err
	}
	_, err := locale.Fprintf(p.Out, "\nthe whole list as clients get it: %d bytes, about %d tokens; behind a search: %d bytes, about %d tokens\n(%s)\n",
		s.List.Bytes, s.List.Tokens, s.Search.Bytes, s.Search.Tokens, locale.T(estimateNote))
	switch b := s.Budget; {
	case err != nil || b == nil || !whole:
	case int64(b.Used) <= b.Bytes:
		_, err = locale.Fprintf(p.Out, "servers take %d of the %d bytes that context.budget gives them\n", b.Used, b.Bytes)
	case int64(b.least) > b.Bytes:
		_, err = locale.Fprintf(p.Out, "servers take %d bytes, more than the %d that context.budget gives them, and none of the views that auto can choose takes so little; a larger context.budget does, or fewer servers\n", b.Used, b.Bytes)
	default:
		_, err = locale.Fprintf(p.Out, "servers take %d bytes, more than the %d that context.budget gives them; collie tools --rebalance chooses their views again\n", b.Used, b.Bytes)
	}
	return err
}

// viewReason says why a tool has its view.
func viewReason(r *sizeRow) string {
	switch r.Why {
	case tool.WhyProfile:
		return locale.T("the profile says so")
	case tool.WhyEntry:
		return locale.T("its entry says so")
	case tool.WhyContext:
		return locale.T("context.view says so")
	case tool.WhyNotes:
		return locale.T("notes, not counted")
	case tool.WhyAuto:
		switch tool.View(r.View) {
		case tool.Grouped:
			return locale.T("auto: too large to be flat")
		case tool.Search:
			return locale.T("auto: no room for it")
		}
		return locale.T("auto: it fits")
	}
	return locale.T("the default")
}
