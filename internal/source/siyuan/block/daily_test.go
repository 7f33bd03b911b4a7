package block_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestAddToDailyNote(t *testing.T) {
	w := newWorkspace(t, "one")
	a := findAction(t, "add_to_daily_note")
	first := w.Must(t, a, args("notebook", w.nb, "dataType", "markdown", "data", "b", "position", "append"))
	second := w.Must(t, a, args("notebook", w.nb, "dataType", "markdown", "data", "a\n\n第二", "position", "prepend"))
	doc := kernel.ID(first.Get("documentId").Str)
	if doc == "" || second.Get("documentId").Str != string(doc) {
		t.Fatalf("two notes of one day: %s, %s", first.Raw, second.Raw)
	}
	var texts []string
	for _, text := range w.Texts(w.t, doc) {
		if text != "" { // a new note begins with an empty paragraph
			texts = append(texts, text)
		}
	}
	if diff := cmp.Diff([]string{"a", "第二", "b"}, texts); diff != "" {
		t.Errorf("note (-want +got):\n%s", diff)
	}
	if second.Get("createdBlockIDs.#").Int() != 2 || second.Get("position").Str != "prepend" {
		t.Errorf("result: %s", second.Raw)
	}
}

func TestAddToDailyNoteRefuses(t *testing.T) {
	w := newWorkspace(t, "one")
	a := findAction(t, "add_to_daily_note")
	call := args("notebook", w.nb, "dataType", "markdown", "data", "x", "position", "append")
	w.Refused(w.t, a, args("notebook", w.nb, "dataType", "markdown", "data", "x"), tool.Invalid)
	w.Refused(w.t, a, args("notebook", actiontest.Nowhere, "dataType", "markdown", "data", "x", "position", "append"), tool.NotFound)
	w.checkGuarded(a, access.Write, w.nb, call)
	if err := w.Client.CloseNotebook(t.Context(), w.nb); err != nil {
		t.Fatal(err)
	}
	if e := w.Refused(w.t, a, call, kernel.API); e.Code != kernel.CodeNotebookClosed || !strings.Contains(e.Hint, "set_open_state") {
		t.Errorf("closed: %s", e.Payload())
	}
}

// TestAddToDailyNoteThatReadsEverything: the kernel renders the path and the template of daily notes, which could read
// every notebook.
func TestAddToDailyNoteThatReadsEverything(t *testing.T) {
	w := newWorkspace(t, "one")
	hidden := kernel.ID(w.Notebook("CANARY"))
	w.Levels[hidden] = access.None
	w.File("/data/templates/query.md", []byte(`.action{ querySQL "SELECT * FROM blocks" }`))
	call := args("notebook", w.nb, "dataType", "markdown", "data", "x", "position", "append")
	for setting, value := range map[string]string{"dailyNoteSavePath": `/x{{ querySQL "SELECT 1" | print }}`, "dailyNoteTemplatePath": "/query.md"} {
		conf := map[string]any{"dailyNoteSavePath": "/plain", "dailyNoteTemplatePath": ""}
		conf[setting] = value
		if _, err := w.Client.SetNotebookConf(t.Context(), w.nb, conf); err != nil {
			t.Fatal(err)
		}
		if e := w.Refused(w.t, findAction(t, "add_to_daily_note"), call, tool.Denied); !strings.Contains(e.Message, "querySQL") {
			t.Errorf("%s: %s", setting, e.Payload())
		}
	}
}
