package acceptance_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// wantWords fails the test for each word that text lacks.
func wantWords(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s: no %q in\n%.3000s", what, w, text)
		}
	}
}

// TestHelp requests help as a model does: for a tool, for an action by each of its names, and for
// an action that does not exist.
func TestHelp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, nobody)
		tool := v.mustCall(t, "notebook", `{"action":"help"}`).text
		wantWords(t, "help of a tool", tool, "# notebook", "`list(", "get_child_docs", "topic=")
		for _, off := range []string{"set_permission", "`remove("} {
			if strings.Contains(tool, off) {
				t.Errorf("help shows %s, which is off:\n%s", off, tool)
			}
		}
		page := v.mustCall(t, "notebook", `{"action":"help","topic":"get_child_docs"}`).text
		wantWords(t, "help of an action", page,
			`notebook(action="get_child_docs")`, "| notebook |", "required", "| pageSize |", "| 50 |", "r on", // types and defaults
			"It needs r, which 2 notebooks allow now.", // Work and Reading
			`{"action":"get_child_docs",`, "collie notebook get-child-docs")
		for _, other := range []string{"get-child-docs", "GET_CHILD_DOCS"} {
			if got := v.mustCall(t, "notebook", `{"action":"help","topic":"`+other+`"}`).text; got != page {
				t.Errorf("topic %q has another page:\n%s", other, got)
			}
		}
		wantWords(t, "help by an alias", v.mustCall(t, "notebook", `{"action":"help","topic":"ls"}`).text, `notebook(action="list")`)
		wantWords(t, "help of what needs much", v.mustCall(t, "fs", `{"action":"help","topic":"rm"}`).text, "It needs rwd, which 1 notebook allows now.", "a person confirms it")

		unknown := v.call(t, "notebook", `{"action":"help","topic":"dance"}`)
		if !unknown.failed || unknown.Get("error.code").String() != "unknown_help_topic" || !slices.Contains(stringsAt(unknown, "error.validTopics"), "list") || slices.Contains(stringsAt(unknown, "error.validTopics"), "set_permission") {
			t.Errorf("unknown topic: %s", unknown.text)
		}
		if strings.Contains(tool+page, hiddenWord) {
			t.Error("help names a hidden notebook")
		}
	})
}

// stringsAt returns the items of a list in an answer.
func stringsAt(a answer, path string) []string {
	var out []string
	for _, v := range a.Get(path).Array() {
		out = append(out, v.String())
	}
	return out
}

// readPage reads a resource that is one Markdown text.
func (v *sdkClient) readPage(t *testing.T, uri string) (string, error) {
	t.Helper()
	r, err := v.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	if len(r.Contents) != 1 || r.Contents[0].URI != uri || r.Contents[0].MIMEType != "text/markdown" {
		raw, _ := json.Marshal(r)
		t.Fatalf("%s: %.400s", uri, raw)
	}
	return r.Contents[0].Text, nil
}

// TestHelpResources reads the pages of help as resources, by each of their names.
func TestHelpResources(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.File(ownFolder+configFile, []byte(`{"userRulesText":"Write in Latin.","tag":{"enabled":false,"actions":{}}}`))
	g := w.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, nobody)
		page := func(uri string) string {
			t.Helper()
			text, err := v.readPage(t, uri)
			if err != nil {
				t.Fatalf("%s: %v", uri, err)
			}
			return text
		}
		list := page("siyuan://help/action/notebook/list")
		wantWords(t, "page of an action", list, `notebook(action="list")`)
		for _, alias := range []string{"siyuan://help/notebook/list", "siyuan://help/notebook/ls"} {
			if page(alias) != list {
				t.Errorf("%s is another page", alias)
			}
		}
		wantWords(t, "page of a tool", page("siyuan://help/notebook"), "# notebook", "`list(", "topic=")
		if a, b := page("siyuan://help/path-semantics"), page("siyuan://help/document-path-semantics"); a != b || !strings.Contains(a, "hPath") {
			t.Errorf("path-semantics: %s\n\ndocument-path-semantics: %s", a, b)
		}
		wantWords(t, "user rules", page("siyuan://help/user-rules"), "Write in Latin.")
		for _, name := range []string{"examples", "ai-layout-guide", "write-safety"} {
			if len(page("siyuan://help/"+name)) < 200 {
				t.Errorf("%s is short", name)
			}
		}
		overview := page("siyuan://help/tool-overview")
		wantWords(t, "overview", overview, "# fs", "# mascot", "`read(")
		if strings.Contains(overview, "# tag") || strings.Contains(overview, "set_permission") {
			t.Error("the overview shows what is off")
		}

		listed, err := v.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range listed.Resources {
			if strings.HasPrefix(r.URI, "siyuan://") && page(r.URI) == "" {
				t.Errorf("%s is listed and empty", r.URI)
			}
		}
		templates, err := v.ListResourceTemplates(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(templates.ResourceTemplates, func(r *mcp.ResourceTemplate) bool {
			return r.URITemplate == "siyuan://help/action/{tool}/{action}"
		}) {
			t.Errorf("templates: %+v", templates.ResourceTemplates)
		}
		for _, uri := range []string{
			"siyuan://help/nothing", "siyuan://help/tag", "siyuan://help/", "siyuan://help/action/", "siyuan://help/notebook/dance", "siyuan://help/notebook/set_permission",
			"siyuan://help/tag/list", "siyuan://notes/" + w.plan,
		} {
			_, err := v.readPage(t, uri)
			if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != -32002 && e.Code != -32602 {
				t.Errorf("%s: %v, want a protocol error for an unknown resource", uri, err)
			}
		}
	})
}

// TestPrompts gets the five prompts, with and without a task.
func TestPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, nobody)
		list, err := v.ListPrompts(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range list.Prompts {
			names = append(names, p.Name)
			if len(p.Arguments) != 1 || p.Arguments[0].Name != "task" || p.Arguments[0].Required {
				t.Errorf("arguments of %s: %+v", p.Name, p.Arguments)
			}
			text := func(args map[string]string) string {
				t.Helper()
				r, err := v.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: args})
				if err != nil || len(r.Messages) != 1 || r.Messages[0].Role != "user" {
					t.Fatalf("%s: %+v, %v", p.Name, r, err)
				}
				return r.Messages[0].Content.(*mcp.TextContent).Text
			}
			plain, asked := text(nil), text(map[string]string{"task": "泡茶"})
			if strings.Contains(plain, "task") || !strings.HasPrefix(asked, plain) || !strings.Contains(asked, "泡茶") {
				t.Errorf("%s: %s\n\nwith a task: %s", p.Name, plain, asked)
			}
		}
		want := []string{"siyuan_browse_read", "siyuan_create_edit", "siyuan_search_query", "siyuan_database", "siyuan_daily_note"}
		if !slices.Equal(names, want) {
			t.Errorf("prompts %v, want %v", names, want)
		}
		if _, err := v.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "siyuan_dance"}); err == nil {
			t.Error("an unknown prompt is not an error")
		}
	})
}

// TestInstructions checks the size of a session's instructions, and that they cover their subjects.
func TestInstructions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		text := openSession(t, g, version, nobody).InitializeResult().Instructions
		if len(text) > 4<<10 {
			t.Errorf("%d bytes, want at most 4 KiB", len(text))
		}
		wantWords(t, "instructions", text,
			`action="help"`, "bootstrap", "hPath", "rwd", "confirmed by a person", "/AGENTS.md", "JSON", "outcome_unknown")
	})
}
