package hidden_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/test/await"
)

// countedPlaces has all places where a result says how much was left out because it is hidden, and why that reveals nothing
// more: no text, title or filter of the caller decides what is counted.
var countedPlaces = map[string]string{
	"av/get_primary_key_values.go": "rows of a database that are bound to hidden blocks, without a keyword only",
	"av/read.go":                   "the same of a whole database, whoever asks",
	"av/render.go":                 "the same, without a query only",
	"block/recent_updated.go":      "what was written last, anywhere",
	"file/list_assets.go":          "assets in folders of hidden notebooks that a document shows, or that nothing uses",
	"flashcard/tool.go":            "cards of a deck, or all that are due",
}

// TestCountsOfWhatIsHidden: a count that is not on the list has to be thought about first.
func TestCountsOfWhatIsHidden(t *testing.T) {
	t.Parallel()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", path), nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Filtered" {
					found[filepath.ToSlash(path)] = countedPlaces[filepath.ToSlash(path)]
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(countedPlaces, found); diff != "" {
		t.Errorf("what is counted (-on the list +in the code):\n%s", diff)
	}
}

// secretHit is the beginning of the code that the hidden notebook contains. A caller who guesses the code letter by letter
// asks for secretHit with the right guess, and for one of secretMisses with a wrong one.
const secretHit = "qx7k"

var secretMisses = []string{"qx7b", "qx7w", "qx7m"}

// newSecretWorkspace returns a workspace whose hidden notebook contains the code wherever a note can contain a text.
func newSecretWorkspace(t testing.TB) *twoNotebooks {
	t.Helper()
	w := newTwoNotebooks(t)
	const code = secretHit + "391z"
	doc := w.Doc(w.hidden, "/"+code, "text "+code+" with #"+code+"#\n\n# "+code+"\n\nsee (("+w.openBlock+" 'x')) and (("+w.doc+" '"+code+"'))\n\n"+
		"[a](assets/"+code+"-20240801120000-eeeeeee.txt)\n\n((20200101000000-zzzzzzz 'gone'))")
	w.File("/data/assets/"+code+"-20240801120000-eeeeeee.txt", []byte("text of "+code))
	attrs := map[string]string{"name": code, "alias": code, "memo": code, "bookmark": code, "custom-a": code}
	if err := w.client.SetAttrs(t.Context(), kernel.ID(w.blocksOf(doc)[0]), attrs); err != nil {
		t.Fatal(err)
	}
	ops := []kernel.Operation{
		{"action": "setAttrViewName", "id": hiddenDB, "data": code},
		{"action": "insertAttrViewBlock", "avID": hiddenDB, "srcs": []any{map[string]any{"itemID": "20240801120000-coderow", "isDetached": true, "content": code}}},
	}
	if _, err := w.client.Transact(t.Context(), 1, ops...); err != nil {
		t.Fatal(err)
	}
	shows := w.Doc(w.open, "/Table", "table")
	w.mustRun("av.render", object{"id": "20240801120000-mydb001", "createIfNotExist": true, "blockID": shows})
	w.mustRun("av.add_rows", object{"avID": "20240801120000-mydb001", "primaryKeyTexts": []string{"a row"}})
	if _, err := w.client.Transact(t.Context(), 1, kernel.Operation{"action": "insertAttrViewBlock", "avID": "20240801120000-mydb001", "srcs": []any{
		map[string]any{"itemID": "20240801120000-bounded", "id": w.blocksOf(doc)[0], "isDetached": false},
	}}); err != nil {
		t.Fatal(err)
	}
	return w
}

var (
	idLike   = regexp.MustCompile(`\d{14}-[0-9a-z]{7}`)
	timeLike = regexp.MustCompile(`[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f-]{27}|\d{10,17}`) // ids of requests and hashes too
)

// answerToGuess runs an action with a text as one of its arguments, and returns what the caller sees of the outcome.
func (w *twoNotebooks) answerToGuess(a *action.Action, args json.RawMessage, path, text string) string {
	w.t.Helper()
	args, err := sjson.SetBytes(args, path, text)
	if err != nil {
		w.t.Fatal(err)
	}
	var in object
	if err := json.Unmarshal(args, &in); err != nil {
		w.t.Fatal(err)
	}
	got, err := w.runAction(a.Tool+"."+a.Name, in)
	out := got.Str
	if err != nil {
		out = err.Error()
	}
	return withoutIDsAndTimes(out, text)
}

// withoutIDsAndTimes returns an answer without ids, times and the text asked for. Ids are removed first, because they may contain the
// letters of the text by chance.
func withoutIDsAndTimes(answer, text string) string {
	answer = timeLike.ReplaceAllString(idLike.ReplaceAllString(answer, "ID"), "TIME")
	return strings.ReplaceAll(answer, text, "TEXT")
}

// exampleArgs returns the arguments of an action's example, with ids of this workspace.
func (w *twoNotebooks) exampleArgs(a *action.Action) json.RawMessage {
	for name, id := range map[string]string{"notebook": w.open, "parentID": w.doc, "targetNotebook": w.open, "rootID": w.doc} {
		if v := gjson.Get(a.Example, name); v.Exists() && idLike.MatchString(v.Str) {
			a := *a
			a.Example, _ = sjson.Set(a.Example, name, id)
			return w.exampleArgsBut(&a, name)
		}
	}
	return w.exampleArgsBut(a, "")
}

// exampleArgsBut is like exampleArgs, and leaves the argument but as the example has it.
func (w *twoNotebooks) exampleArgsBut(a *action.Action, but string) json.RawMessage {
	args := []byte(a.Example)
	id := w.openBlock
	switch a.Tool {
	case "av":
		id = "20240801120000-mydb001"
	case "document", "file":
		id = w.doc
	case "notebook":
		id = w.open
	}
	gjson.ParseBytes(args).ForEach(func(name, value gjson.Result) bool {
		if name.Str != but {
			args = bytes.Replace(args, []byte(value.Raw), []byte(idLike.ReplaceAllString(value.Raw, id)), 1)
		}
		return true
	})
	return args
}

// onlyNeededArgs returns the argument that path leads into, with the required arguments and those with ids, but without any that
// narrows the result down.
func onlyNeededArgs(a *action.Action, args json.RawMessage, path string) json.RawMessage {
	top, _, _ := strings.Cut(path, ".")
	out := []byte("{}")
	gjson.ParseBytes(args).ForEach(func(name, v gjson.Result) bool {
		if p := a.Param(name.Str); name.Str == top || p != nil && p.Required || idLike.MatchString(v.Raw) {
			out, _ = sjson.SetRawBytes(out, name.Str, []byte(v.Raw))
		}
		return true
	})
	return out
}

// textArgPaths returns the paths of the arguments of an action that are texts.
func textArgPaths(a *action.Action, args json.RawMessage) []string {
	schema := gjson.ParseBytes(a.Schema())
	out := map[string]bool{}
	var walk func(path string, v gjson.Result)
	walk = func(path string, v gjson.Result) {
		switch {
		case v.IsObject() || v.IsArray():
			v.ForEach(func(name, inner gjson.Result) bool {
				at := name.String()
				if path != "" {
					at = path + "." + at
				}
				walk(at, inner)
				return true
			})
		case v.Type == gjson.String && !idLike.MatchString(v.Str) && !schema.Get("properties."+path+".enum").Exists():
			out[path] = true
		}
	}
	parsed := gjson.ParseBytes(args)
	if parsed.IsArray() {
		return nil
	}
	n := 0
	parsed.ForEach(func(name, v gjson.Result) bool {
		walk(name.String(), v)
		n++
		return true
	})
	schema.Get("properties").ForEach(func(name, p gjson.Result) bool {
		if p.Get("type").Str == "string" && !p.Get("enum").Exists() && !parsed.Get(name.Str).Exists() {
			out[name.Str] = true
		}
		return true
	})
	return slices.Sorted(maps.Keys(out))
}

// TestNoActionTellsAHiddenCode guesses a letter of a hidden code with every text argument of every action: the answer to
// the right guess must be the same as to wrong ones. New actions are included without a change here. Under the race
// detector only every twelfth text is tried.
func TestNoActionTellsAHiddenCode(t *testing.T) {
	t.Parallel()
	seen, tried := 0, 0
	for _, tl := range siyuan.Tools() {
		if tl.Name == "mascot" {
			continue
		}
		t.Run(tl.Name, func(t *testing.T) {
			w := newSecretWorkspace(t)
			for _, a := range tl.Actions {
				if a.DirectOnly || a.Tool == "notebook" && a.Name == "remove" {
					continue
				}
				all := w.exampleArgs(a)
				for _, path := range textArgPaths(a, all) {
					if seen++; await.Race && seen%12 != 1 {
						continue
					}
					for _, args := range []json.RawMessage{all, onlyNeededArgs(a, all, path)} {
						first := w.answerToGuess(a, args, path, secretMisses[0])
						hit := w.answerToGuess(a, args, path, secretHit)
						same := true
						for _, miss := range secretMisses[1:] {
							same = same && w.answerToGuess(a, args, path, miss) == first
						}
						tried++
						if same && hit != first {
							t.Errorf("%s.%s tells by %s: \nright %s\nwrong %s", a.Tool, a.Name, path, hit, first)
						}
					}
				}
			}
		})
	}
	if tried < await.Fewer(100) {
		t.Errorf("only %d texts were tried", tried)
	}
}

// TestNoTitleTellsAHiddenCode: a caller makes a document with a title of their choice, which hidden notes may mention. The
// answers about the document must not depend on that.
func TestNoTitleTellsAHiddenCode(t *testing.T) {
	t.Parallel()
	w := newSecretWorkspace(t)
	answers := map[string]bool{}
	for _, text := range append([]string{secretHit, secretHit + "391z"}, secretMisses...) {
		id := w.mustRun("document.create", object{"notebook": w.open, "path": "/" + text, "markdown": "x"}).Get("id").Str
		for _, call := range []struct {
			name string
			args object
		}{
			{"search.get_backlinks", object{"id": id}},
			{"block.docs_info", object{"ids": []string{id}, "refCount": true}},
			{"document.lookup", object{"id": id, "include": []string{"docInfo"}}},
			{"search.search_refs", object{"id": id, "k": text}},
		} {
			got, err := w.runAction(call.name, call.args)
			if err != nil {
				t.Fatal(err)
			}
			answers[call.name+withoutIDsAndTimes(got.Str, text)] = true
		}
		w.mustRun("document.remove", object{"ids": []string{id}})
	}
	if len(answers) != 4 {
		t.Errorf("different answers: %s", strings.Join(slices.Sorted(maps.Keys(answers)), "\n"))
	}
}

// TestNobodyTellsOfHiddenReferences: a hidden note refers to a document, and no answer about that document knows.
func TestNobodyTellsOfHiddenReferences(t *testing.T) {
	t.Parallel()
	w := newSecretWorkspace(t) // it refers to the document and to its first block
	other := w.Doc(w.open, "/Other", "first\n\n[a]("+sharedAsset+") [b]("+visibleAsset+")")
	w.setOpenLevel("rwd")
	plain := func(doc, block, text string) string {
		text = strings.NewReplacer(doc, "DOC", block, "BLOCK", "Doc", "TITLE", "Other", "TITLE").Replace(text)
		return timeLike.ReplaceAllString(idLike.ReplaceAllString(text, "ID"), "TIME")
	}
	for _, call := range []struct {
		name string
		args func(doc, block string) object
	}{
		{"search.get_backlinks", func(doc, _ string) object { return object{"id": doc, "mode": "links"} }},
		{"search.get_backlinks", func(_, block string) object { return object{"id": block} }},
		{"block.docs_info", func(doc, _ string) object { return object{"ids": []string{doc}, "refCount": true, "av": true} }},
		{"block.info", func(_, block string) object { return object{"id": block} }},
		{"block.get_attrs", func(_, block string) object { return object{"id": block} }},
		{"block.word_count", func(doc, _ string) object { return object{"ids": []string{doc}} }},
		{"document.lookup", func(doc, _ string) object { return object{"id": doc, "include": []string{"docInfo"}} }},
		{"document.get_outline", func(doc, _ string) object { return object{"id": doc} }},
		{"document.get_doc", func(doc, _ string) object { return object{"id": doc} }},
		{"block.transfer_references", func(doc, block string) object { return object{"fromID": block, "toID": doc} }},
		{"fs.write", func(doc, _ string) object {
			return object{"path": "/Open/" + w.titleOf(doc), "markdown": "all new", "overwrite": true}
		}},
	} {
		var told []string
		for _, doc := range []string{w.doc, other} {
			block := w.blocksOf(doc)[0]
			got, err := w.runAction(call.name, call.args(doc, block))
			if err != nil {
				got.Str = err.Error()
			}
			told = append(told, plain(doc, block, got.Str))
		}
		if told[0] != told[1] {
			t.Errorf("%s:\nwith a hidden reference %s\nwithout               %s", call.name, told[0], told[1])
		}
	}
}
