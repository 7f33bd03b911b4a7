package search

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action search.find_replace, which replaces text in many blocks.

// maxCompared is the largest number of blocks whose changes are counted: their texts are read before the replacement and after it.
const maxCompared = 50

// replaceTypes are the kinds of text that the kernel can replace in. The value is the default: true for text that people
// read, false for link targets.
var replaceTypes = map[string]bool{
	"text": true, "docTitle": true, "em": true, "strong": true, "mark": true, "s": true, "u": true, "sub": true, "sup": true,
	"kbd": true, "code": true, "aText": true, "imgText": true, "imgTitle": true, "codeBlock": true, "mathBlock": true,
	"htmlBlock": true, "inlineMath": true, "inlineMemo": true,
	"aTitle": false, "aHref": false, "imgSrc": false, "tag": false, "blockRef": false, "fileAnnotationRef": false,
}

type findReplaceArgs struct {
	K            string          `json:"k" about:"text to find, or a pattern with method regex" req:"true" min:"1" max:"8000"`
	R            string          `json:"r" about:"text to put in its place" req:"true" max:"100000"`
	IDs          []string        `json:"ids" about:"blocks to replace in; of a document its title" req:"true" min:"1" max:"1000"`
	Method       string          `json:"method" about:"how k is meant" enum:"keyword,query_syntax,regex" default:"keyword"`
	Paths        []string        `json:"paths" about:"all of ids must be in these: notebook ids, or <notebook>/<storage path>.sy"`
	ReplaceTypes map[string]bool `json:"replaceTypes" about:"kinds of text to replace in; without it what people read"`
}

type replacedResult struct {
	Success  bool     `json:"success" about:"true"`
	Replaced bool     `json:"replaced" about:"whether anything changed, as far as that was counted"`
	Changed  *int     `json:"changed,omitempty" about:"blocks that changed; only of 50 at most"`
	IDs      []string `json:"ids" about:"blocks that were looked at"`
	K        string   `json:"k" about:"as given" verbose:"yes"`
	R        string   `json:"r" about:"as given" verbose:"yes"`
	Warning  string   `json:"warning,omitempty" about:"if nothing changed"`
}

// findReplace returns the action find_replace of the tool search.
func findReplace() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "find_replace", Purpose: "Replace a text in blocks, at once and without undo",
		Guide: "fulltext finds the blocks. A document's id stands for its title, not for its blocks. keyword takes no notice of upper and lower case. " +
			"regex is RE2, $1 stands for a group. " +
			"replaceTypes: " + strings.Join(slices.Sorted(maps.Keys(replaceTypes)), " ") + ". changed counts the blocks that changed, of 50 at most.",
		Dangerous: true, Class: action.Manifest, Risk: tool.RiskHigh, Effects: tool.EffectWrite,
		Needs: []action.Need{action.OnBlock(access.Write, "ids"), onPaths(access.Write, "paths")},
		Endpoints: []string{
			"search/findReplace", "block/getBlockKramdowns", "block/getBlockDOMs", "block/updateBlock", "block/getBlockInfo", "query/sql", "sqlite/flushTransaction",
			"notebook/lsNotebooks",
		},
		Aliases: map[string]string{"methodName": "method", "id": "ids", "find": "k", "replace": "r"},
		Adapt:   adaptArgs(map[string]string{"methodName": "method"}, map[string]map[string]int{"method": methods}),
		Result:  replacedResult{},
		Example: `{"k":"colour","r":"color","ids":["20240101120000-abcdefg"]}`,
		Effect: func(r *action.Request) string {
			return fmt.Sprintf("replace %q by %q in %d block(s), without undo", content.Clip(r.Text("k"), 80), content.Clip(r.Text("r"), 80), len(r.Targets("ids")))
		},
	}, func(ctx context.Context, r *action.Request, a findReplaceArgs) (any, error) {
		if err := checkReplacing(r, &a); err != nil {
			return nil, err
		}
		types := map[string]bool{}
		for kind, byDefault := range replaceTypes { // all are sent: without any the kernel replaces nothing
			types[kind] = a.ReplaceTypes[kind]
			if a.ReplaceTypes == nil {
				types[kind] = byDefault
			}
		}
		var ids []kernel.ID
		targets := r.Targets("ids")
		for _, t := range targets {
			ids = append(ids, t.ID)
		}
		ids = action.Distinct(ids)
		if err := refuseCopiedText(ctx, r, ids); err != nil {
			return nil, err
		}
		before, err := kramdownOf(ctx, r, ids)
		if err != nil {
			return nil, err
		}
		dom, err := affectedDOM(ctx, r, targets)
		if err != nil {
			return nil, err
		}
		q := kernel.Replacing{Find: a.K, Replace: a.R, IDs: ids, Method: methods[a.Method], Types: types}
		if err := r.Kernel.FindReplace(ctx, escapeReplacement(q)); err != nil {
			return nil, err
		}
		refreshAll(r, targets)
		if err := repairBlocks(ctx, r, dom); err != nil {
			return nil, err
		}
		out := replacedResult{Success: true, Replaced: true, IDs: a.IDs, K: a.K, R: a.R}
		after, err := kramdownOf(ctx, r, ids)
		switch {
		case err != nil:
			out.Warning = "the text was replaced; what changed could not be counted: " + err.Error()
		case before != nil:
			n := countChanged(before, after)
			out.Changed, out.Replaced = &n, n > 0
			if n == 0 {
				out.Warning = `nothing changed: none of the blocks has k in the kinds of text of replaceTypes; block(action="get_kramdown") shows them`
			}
		}
		return out, nil
	})
}

// affectedDOM returns the blocks that may change, by id, in the editor's form; documents, of which only the title changes, are
// left out. It returns nil if no notebook is hidden, because nothing has to be repaired then.
func affectedDOM(ctx context.Context, r *action.Request, targets []action.Target) (map[kernel.ID]string, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return nil, err
	}
	var ids []kernel.ID
	for _, t := range targets {
		if t.ID != t.Root {
			ids = append(ids, t.ID)
		}
	}
	out := map[kernel.ID]string{}
	for chunk := range slices.Chunk(action.Distinct(ids), 100) {
		doms, err := r.Kernel.DOMs(ctx, chunk)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, doms)
	}
	return out, nil
}

// repairBlocks reads the blocks of before again and writes those anew that have got content which must not be in a note, such as
// references to hidden blocks, without it ([content.Admit]): the kernel joins old and new text and parses the result again.
// before has the blocks as they were, in the editor's form, because only that shows a reference inside a link.
func repairBlocks(ctx context.Context, r *action.Request, before map[kernel.ID]string) error {
	for chunk := range slices.Chunk(slices.Sorted(maps.Keys(before)), 100) {
		now, err := r.Kernel.DOMs(ctx, chunk)
		if err != nil {
			return err
		}
		for _, id := range chunk {
			admitted, _, err := content.Admit(ctx, r, content.Written{Data: now[id], DOM: true, Over: id, Was: before[id]})
			if err == nil && admitted != now[id] {
				_, err = r.Kernel.Update(ctx, id, "dom", admitted)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// escapeReplacement returns a search that has the kernel insert the replacement as the caller means it. In a search for plain
// text the kernel would take $1 in the replacement for a group of a pattern, and would turn tags into text. Where one of them
// could happen, the search becomes one for a pattern that matches just that text, with each $ written as $$, which stands for
// one $. A search for a pattern stays as it is: in it $1 is meant as a group.
func escapeReplacement(q kernel.Replacing) kernel.Replacing {
	if q.Method != kernel.MethodRegex && (strings.Contains(q.Replace, "$") || q.Types["tag"]) {
		q.Method = kernel.MethodRegex
		q.Find, q.Replace = "(?i)"+regexp.QuoteMeta(q.Find), strings.ReplaceAll(q.Replace, "$", "$$")
	}
	return q
}

// checkReplacing refuses arguments that the kernel would ignore or misinterpret, and blocks outside of the paths.
func checkReplacing(r *action.Request, a *findReplaceArgs) error {
	if a.Method == "regex" {
		pattern, err := regexp.Compile(a.K)
		if err != nil {
			return r.Invalid("k", "is not a regular expression of RE2: "+err.Error())
		}
		if pattern.MatchString("") { // as "x*" does, which then matches at every position
			return r.Invalid("k", "matches nothing at all, which is everywhere; make it need a character")
		}
	}
	if a.K == a.R {
		return r.Conflicting("k and r are the same: nothing would change", "k", "r")
	}
	for kind := range a.ReplaceTypes {
		if _, known := replaceTypes[kind]; !known {
			return r.Invalid("replaceTypes/"+kind, "is not a kind of text; there are "+strings.Join(slices.Sorted(maps.Keys(replaceTypes)), ", "))
		}
	}
	if a.ReplaceTypes != nil && !slices.Contains(slices.Collect(maps.Values(a.ReplaceTypes)), true) {
		return r.Invalid("replaceTypes", "selects nothing, so nothing would change")
	}
	return checkInside(r, a.Paths)
}

// checkInside refuses blocks outside of the paths. The kernel gets only ids and never the paths, whose scope could be
// wider.
func checkInside(r *action.Request, requested []string) error {
	paths, err := checkPaths(r, requested)
	if err != nil || len(paths) == 0 {
		return err
	}
	var outside []string
	for _, t := range r.Targets("ids") {
		at := string(t.Notebook) + t.Path
		if !slices.ContainsFunc(paths, func(p string) bool { return at == p || strings.HasPrefix(at, strings.TrimSuffix(p, ".sy")+"/") }) {
			outside = append(outside, string(t.ID))
		}
	}
	if len(outside) == 0 {
		return nil
	}
	return r.Conflicting("these ids are outside of paths: "+strings.Join(outside, ", "), "ids", "paths")
}

// onPaths returns an [action.Need] for a level on the notebook of each path. A path that does not exist and one that is hidden give the same
// error.
func onPaths(level access.Level, param string) action.Need {
	return action.On(level, "notebook of "+param, param, func(ctx context.Context, r *action.Request) ([]action.Target, error) {
		requested := r.Strings(param)
		paths, err := checkPaths(r, requested)
		if err != nil || len(paths) == 0 {
			return nil, err
		}
		all, err := r.Levels.All(ctx)
		if err != nil {
			return nil, err
		}
		var out []action.Target
		for i, p := range paths {
			notebook := notebookOf(p)
			if !r.Readable(notebook) || kernel.FindNotebook(all, notebook) == nil {
				return nil, access.NotFound(access.Path, requested[i])
			}
			if _, document, inside := strings.Cut(p, "/"); inside {
				id := strings.TrimSuffix(document[strings.LastIndexByte(document, '/')+1:], ".sy")
				at, err := r.Place(ctx, access.Path, id)
				if err != nil || at.Notebook != notebook || at.Path != "/"+document {
					return nil, access.NotFound(access.Path, requested[i])
				}
			}
			out = append(out, action.Target{What: access.Path, Subject: requested[i], Notebook: notebook})
		}
		return out, nil
	})
}

// refuseCopiedText refuses blocks that show the text of a hidden block, because a match in them would reveal that text.
func refuseCopiedText(ctx context.Context, r *action.Request, ids []kernel.ID) error {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return err
	}
	all, err := r.Kernel.Kramdowns(ctx, ids, "md")
	if err != nil {
		return err
	}
	redactor, err := content.NewRedactor(ctx, r, slices.Collect(maps.Values(all))...)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if redactor.HidesAnchorIn(all[id]) {
			return &tool.Error{
				Op: "replace in", Kind: tool.Denied, Subject: string(id),
				Message: "the block refers to one that cannot be read and shows its text, in which nothing can be replaced",
				Hint:    `block(action="replace") edits the rest of it`,
			}
		}
	}
	return nil
}

// kramdownOf returns the current text of blocks; nil if there are more than maxCompared.
func kramdownOf(ctx context.Context, r *action.Request, ids []kernel.ID) (map[kernel.ID]string, error) {
	if len(ids) > maxCompared {
		return nil, nil
	}
	return r.Kernel.Kramdowns(ctx, ids, "md")
}

var (
	attributes = lazyregexp.New(`\{:(?: [\w-]+="[^"]*")+\}`)
	attribute  = lazyregexp.New(` [\w-]+="[^"]*"`)
)

// countChanged counts the blocks whose text has changed. The order of attributes and the time of the last change do not
// count.
func countChanged(before, after map[kernel.ID]string) int {
	plain := func(s string) string {
		return attributes.ReplaceAllStringFunc(content.Clean(s), func(list string) string {
			names := slices.DeleteFunc(attribute.FindAllString(list, -1), func(a string) bool { return strings.HasPrefix(a, ` updated="`) })
			return strings.Join(slices.Sorted(slices.Values(names)), "")
		})
	}
	n := 0
	for id, text := range before {
		if plain(after[id]) != plain(text) {
			n++
		}
	}
	return n
}

// refreshAll has SiYuan's interface reload the documents of targets, and the tree if the title of one changed.
func refreshAll(r *action.Request, targets []action.Target) {
	for _, t := range targets {
		r.RefreshDocument(t.Root)
		if t.What == access.Document {
			r.RefreshTree()
		}
	}
}
