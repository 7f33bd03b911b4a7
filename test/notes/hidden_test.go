package notes_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/access"
	"collie/internal/tool"
)

// TestHiddenNotebookNeverShows: no answer contains a word or an id of a notebook at level none.
func TestHiddenNotebookNeverShows(t *testing.T) {
	t.Parallel()
	r := newGateway(t, newWorkspace(t, layout{refersToHidden: true}))
	r.setShutLevel(access.Read)
	for i, p := range r.probes() {
		if thrifty && i%7 != 0 {
			continue
		}
		out := r.call(p.act, p.args)
		wantNoLeak(t, r.workspace, r.hidden, p.act, p.args, out)
		if len(out.writes) > 0 && p.args["validateOnly"] == true {
			t.Errorf("%s wrote %q", p, out.writes)
		}
	}
	for _, l := range r.lists() {
		wantNoLeak(t, r.workspace, r.hidden, "list", nil, &outcome{text: l})
	}
	for _, c := range r.helpAndReads() {
		wantNoLeak(t, r.workspace, r.hidden, string(c.Kind)+" "+c.Name, object{"": c.Args, "name": c.Name, "word": r.hidden.word("name")}, r.request(c))
	}
}

// TestHiddenNotebookMightAsWellNotExist makes the same calls in a workspace with a hidden notebook and in one that
// never had it. The answers are the same, except for the numbers of things that were left out.
func TestHiddenNotebookMightAsWellNotExist(t *testing.T) {
	t.Parallel()
	with := newGateway(t, newWorkspace(t, layout{}))
	with.NeedsVault("two workspaces at once want two kernels")
	without := newGateway(t, newWorkspace(t, layout{withoutHidden: true}))
	with.setShutLevel(access.Read)
	without.setShutLevel(access.Read)
	if diff := cmp.Diff(without.lists(), with.lists()); diff != "" {
		t.Errorf("lists (-without +with the hidden notebook):\n%s", diff)
	}
	asked, same := with.probes(), without.probes()
	compared := map[string]bool{}
	for i, p := range asked {
		if thrifty && i%7 != 1 || p.varies() || p.terse { // the next one says more
			continue
		}
		compared[p.withoutVerbose()] = true
		a, b := with.call(p.act, p.args), without.call(same[i].act, same[i].args)
		if diff := cmp.Diff(without.comparable(b), with.comparable(a)); diff != "" {
			t.Errorf("%s (-without +with the hidden notebook):\n%s", p, diff)
		}
	}
	for _, p := range asked {
		if !thrifty && !p.varies() && !compared[p.withoutVerbose()] {
			t.Errorf("%s was not compared", p)
		}
	}
	other := without.helpAndReads()
	for i, c := range with.helpAndReads() {
		a, b := with.request(c), without.request(other[i])
		if diff := cmp.Diff(without.comparable(b), with.comparable(a)); diff != "" {
			t.Errorf("%s %s (-without +with the hidden notebook):\n%s", c.Kind, c.Name, diff)
		}
	}
}

// dependsOnHidden are the actions whose answer depends on hidden things, with the reason.
var dependsOnHidden = map[string]string{
	"file.remove_unused_assets": "needs rwd everywhere",
	"timeline.list_nodes":       "needs r everywhere, unless it is about a document",
	"timeline.create_node":      "the same",
	"flashcard.get_decks":       "leaves sizes out: they count what is hidden",
	"block.recent_updated":      "the kernel's list is short, and what is hidden takes places in it",
}

// joined matches SQL that joins rows into one text, in no fixed order.
var joined = regexp.MustCompile(`group_concat|json_group_array`)

// queries matches templates that read notes, for which every notebook must be readable.
var queries = regexp.MustCompile(`queryBlocks|zqquery`)

// varies reports whether the answer to p may differ between two workspaces although it reveals nothing.
func (p probe) varies() bool {
	return dependsOnHidden[p.act] != "" || joined.Match(encode(p.args)) || queries.Match(encode(p.args))
}

// lists returns the lists and instructions that every client gets.
func (r *gateway) lists() []string {
	var out []string
	for _, kind := range []tool.ListKind{tool.ListTools, tool.ListResources, tool.ListTemplates, tool.ListPrompts} {
		raw, _ := r.List(r.t.Context(), kind, "")
		out = append(out, string(raw))
	}
	return append(out, r.Instructions(""))
}

// helpAndReads returns requests for help, resources and prompts, some of them named after hidden things.
func (r *gateway) helpAndReads() []tool.Request {
	var out []tool.Request
	help := func(tl, topic string) {
		out = append(out, tool.Request{Kind: tool.KindCall, Name: tl, Args: encode(object{"action": "help", "topic": topic}), Origin: tool.MCPLocal})
	}
	read := func(uri string) {
		out = append(out, tool.Request{Kind: tool.KindRead, Name: uri, Args: json.RawMessage("{}"), Origin: tool.MCPLocal})
	}
	for _, tl := range siyuan.Tools() {
		help(tl.Name, "")
		help(tl.Name, r.hidden.word("name"))
		for _, a := range tl.Actions {
			help(tl.Name, a.Name)
			read("siyuan://help/" + tl.Name + "/" + a.Name)
		}
	}
	for _, field := range []string{"resources", "prompts"} {
		kind := map[string]tool.ListKind{"resources": tool.ListResources, "prompts": tool.ListPrompts}[field]
		raw, _ := r.List(r.t.Context(), kind, "")
		for _, one := range gjson.GetBytes(raw, field).Array() {
			if field == "resources" {
				read(one.Get("uri").String())
				continue
			}
			out = append(out, tool.Request{
				Kind: tool.KindPrompt, Name: one.Get("name").String(), Args: encode(object{"task": r.hidden.word("name")}), Origin: tool.MCPLocal,
			})
		}
	}
	for _, uri := range []string{
		"siyuan://help/" + r.hidden.word("name"), "siyuan://" + string(r.hidden.nb), "siyuan://blocks/" + string(r.hidden.id("para")),
		"siyuan://help/../" + r.hidden.asset("pic"),
	} {
		read(uri)
	}
	return out
}

// Patterns of what may differ between two workspaces, or two moments, without revealing anything.
var (
	times = regexp.MustCompile(`\d{4}-\d\d-\d\d[_-]\d\d-?\d\d-?\d\d|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?`)
	stamp = regexp.MustCompile(`\b2\d{13}\b|\b1[6-9]\d{11}\b|\b1[6-9]\d{8}\b`)
	// order is the place of a notebook among all. hash matches digests, which also depend on ids.
	order = regexp.MustCompile(`"sort":\d+`)
	hash  = regexp.MustCompile(`sha256:v1:[0-9a-f]+|"hash":"[0-9a-f]{7}"`)
	// folder is the folder of an export; its name depends on the content and its times.
	folder = regexp.MustCompile(`temp/export/[0-9a-f]{32}-`)
	// chosen matches the ids that newWorkspace chooses itself.
	chosen = regexp.MustCompile(`^20240102030405-(opn|sht|hdn)`)
	uuids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// comparable returns the outcome of a call in a form that can be compared between two workspaces.
func (r *gateway) comparable(o *outcome) any {
	text := o.text
	if inner := gjson.Get(text, "structuredContent"); inner.Exists() {
		text = inner.Raw
	}
	pairs := []string{r.deck, "DECK", r.localDir, "FILES"}
	for _, p := range []*place{r.open, r.shut, r.hidden} {
		pairs = append(pairs, string(p.nb), "NOTEBOOK-"+p.code, p.cardID("par2"), "CARD-"+p.code, p.cardID("par3"), "CARD3-"+p.code)
	}
	text = strings.NewReplacer(pairs...).Replace(text)
	text = idForm.ReplaceAllStringFunc(text, func(id string) string {
		if chosen.MatchString(id) || strings.HasPrefix(id, "20230218211946-") {
			return id
		}
		return "ID" // chosen by the kernel
	})
	text = hash.ReplaceAllString(order.ReplaceAllString(text, `"sort":0`), `"hash":""`)
	text = uuids.ReplaceAllString(stamp.ReplaceAllString(times.ReplaceAllString(text, "TIME"), "0"), "UUID")
	text = folder.ReplaceAllString(text, "temp/export/")
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		v = text
	}
	return []any{o.kind, o.code, unfiltered(v), slices.Clone(o.writes)}
}

// unfiltered returns v without the members that say how many things were left out, and with its lists sorted, because
// random ids decide the order of some lists.
func unfiltered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v["permissionSummary"] != nil {
			delete(v, "permissionSummary")
			delete(v, "filteredOutCount")
			delete(v, "partial")
			delete(v, "reason")
		}
		for name, one := range v {
			v[name] = unfiltered(one)
		}
	case []any:
		for i := range v {
			v[i] = unfiltered(v[i])
		}
		slices.SortFunc(v, func(a, b any) int { return bytes.Compare(encode(a), encode(b)) })
	}
	return v
}
