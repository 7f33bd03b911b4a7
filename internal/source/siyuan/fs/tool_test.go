package fs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/fs"
)

func TestTool(t *testing.T) {
	t.Parallel()
	actiontest.Tool(t, fs.Tool(), actiontest.Told{
		Actions:   []string{"ls", "tree", "read", "write", "replace", "rm", "mv", "reorder", "search"},
		Dangerous: []string{"rm", "mv"},
	})
	for _, a := range fs.Tool().Actions {
		if len(a.Needs) == 0 || strings.HasSuffix(a.Purpose, ".") {
			t.Errorf("%s: purpose %q, %d needs", a.Name, a.Purpose, len(a.Needs))
		}
	}
}

// The tool's definition says how paths begin, and is small.
func TestToolIsUsableAlone(t *testing.T) {
	t.Parallel()
	size := 0
	for _, a := range fs.Tool().Actions {
		size += len(a.Schema()) + len(a.Purpose) + len(a.Guide)
	}
	if about := fs.Tool().About; !strings.Contains(about, "/ lists the notebooks") || !strings.Contains(about, "/AGENTS.md") {
		t.Errorf("the tool does not say where to begin: %q", about)
	}
	if size > 12_000 {
		t.Errorf("all schemas and guides take %d bytes", size)
	}
	// From nothing to a changed document by paths that the tool itself has shown.
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/Plan", "draft")
	root := kit.Must(t, findAction(t, "ls"), `{}`)
	inside := kit.Must(t, findAction(t, "ls"), args("path", root.Get("items.0.path").String()))
	path := inside.Get("items.0.path").String()
	kit.Must(t, findAction(t, "replace"), args("path", path, "edit", editArg("draft", "final", false)))
	found := kit.Must(t, findAction(t, "search"), args("query", "final")).Get("data.0.path").String()
	if text := readText(t, kit, found); text != "final" || found != path {
		t.Errorf("%s holds %q", found, text)
	}
}

func TestExamplesWork(t *testing.T) {
	t.Parallel()
	for _, a := range fs.Tool().Actions {
		t.Run(a.Name, func(t *testing.T) {
			kit := actiontest.New(t)
			nb := createNotebook(t, kit, "Work notes")
			createNotebook(t, kit, "Archive")
			if a.Name == "reorder" {
				createDocument(t, kit, nb, "/A", "x")
				createDocument(t, kit, nb, "/B", "x")
			} else if a.Name != "write" {
				createDocument(t, kit, nb, "/Plan", "draft")
				createDocument(t, kit, nb, "/Old plan", "x")
			}
			got := kit.Must(t, a, a.Example)
			known := map[string]bool{}
			for _, f := range a.Returned() {
				known[strings.Split(f.Name, "[")[0]] = true
			}
			var members map[string]json.RawMessage
			if err := json.Unmarshal([]byte(got.Raw), &members); err != nil {
				t.Fatal(err)
			}
			for name := range members {
				if !known[name] {
					t.Errorf("%s returns %s, which Returns does not list", a.Name, name)
				}
			}
		})
	}
}

func TestHiddenNotebooksDoNotShowAnywhere(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	open, hidden := createNotebook(t, kit, "Open"), createNotebook(t, kit, "Hidden Name")
	createDocument(t, kit, open, "/Doc", "word")
	secret := createDocument(t, kit, hidden, "/Doc", "word secret")
	kit.Levels[hidden] = access.None
	for _, a := range fs.Tool().Actions {
		for _, path := range []string{"/", "/Open", "/Doc", "/Open/Doc", "/Hidden", "/Nothing/At/All"} {
			call := map[string]any{"path": path}
			switch a.Name {
			case "mv":
				call = map[string]any{"from": path, "to": "/Nowhere/X"}
			case "write":
				call["markdown"] = "x"
			case "replace":
				call["edit"] = editArg("zzz", "x", false)
			case "search":
				call["query"] = "secret"
			case "reorder":
				call["orderedPaths"] = []string{"zzz"}
			case "rm":
				call["path"] = path + "x"
			}
			raw, err := json.Marshal(call)
			if err != nil {
				t.Fatal(err)
			}
			got, failed := kit.Do(t, a, string(raw))
			text := got.Raw
			if failed != nil {
				text = string(mustBeToolError(t, failed).Payload())
			}
			for _, leak := range []string{"Hidden Name", string(hidden), string(secret), "word secret"} {
				if strings.Contains(text, leak) {
					t.Errorf("%s %s shows %q: %s", a.Name, raw, leak, text)
				}
			}
		}
	}
}
