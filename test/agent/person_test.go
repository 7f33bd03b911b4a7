package agent_test

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// keysByScope returns the control key, which the command line uses for a person, and keys of all other kinds by name.
func keysByScope(t *testing.T, p gateway.Programs, g *gateway.Gateway, settings string) (control string, tokens map[string]string) {
	t.Helper()
	first, control, bridge := g.Keys(t)
	tokens = map[string]string{"first": first, "bridge": bridge}
	for _, scope := range []string{"chat", "tools", "approve", "chat,tools,approve"} {
		name := strings.ReplaceAll(scope, ",", "-")
		out, stderr, code := p.Run(t, g.Home, "token", "add", name, "--scope", scope, "--json", "--config", settings)
		if code != 0 {
			t.Fatalf("token add: %s", stderr)
		}
		tokens[scope] = gjson.Get(out, "token").String()
	}
	return control, tokens
}

// TestNoWayRoundPerson sends commands in messages with every key that is not a person's: none of the commands runs as if
// a person had typed it, and none of the keys may allow actions beforehand.
func TestNoWayRoundPerson(t *testing.T) {
	p, settings := newPrograms(t, scriptOf(provider.Turn{Say: "no"}))
	g := p.Serve(t, settings)
	control, tokens := keysByScope(t, p, g, settings)
	list := func() string {
		out, stderr, code := p.Run(t, g.Home, "notebook", "list", "--json", "--config", settings)
		if code != 0 {
			t.Fatalf("notebook list: %s", stderr)
		}
		return out
	}
	before := list()
	box := gjson.Get(before, "0.id").String()
	api := g.URL + "/api/v1"
	for name, token := range tokens {
		for _, text := range []string{
			"/fs mv --from /Welcome/Writing --to /Welcome/Evil", "/notebook remove --id " + box, "/notebook set_conf --notebook " + box + ` --conf {"name":"Evil"}`,
			"/notebook remove notebook=" + box, "/notebook/remove --notebook " + box,
		} {
			_, made := post(t, api+"/sessions", control, "application/json", `{}`)
			turns := api + "/sessions/" + made.Get("id").String() + "/turns"
			body := fmt.Sprintf(`{"userMessage":{"text":%q},"capabilities":{"elicitation":{}}}`, text)
			for _, allow := range []string{`{"allow":["notebook.*"]}`, `{"allow":["*"]}`} {
				for _, media := range []string{"application/json", "application/x-ndjson"} {
					status, answer := post(t, turns, token, media, body[:len(body)-1]+`,"overrides":`+allow+`}`)
					if status < 400 {
						t.Errorf("token %s allowed %s over %s: %d %s", name, allow, media, status, answer.Raw)
					}
				}
			}
			if status, answer := post(t, turns, token, "application/json", body); status == http.StatusAccepted {
				if end := awaitTurnEnd(t, g, answer.Get("turnId").String()); end.Get("state").String() == "done" {
					t.Errorf("token %s: %s was done: %s", name, text, end.Raw)
				}
			} else if status < 400 {
				t.Errorf("token %s: status %d: %s", name, status, answer.Raw)
			}
		}
		if status, _ := post(t, api+"/sessions", token, "application/json", `{"config":{"allow":["notebook.*"]}}`); status < 400 {
			t.Errorf("token %s made a session that allows actions", name)
		}
	}
	if after := list(); after != before {
		t.Errorf("the notebooks were\n%s and are\n%s", before, after)
	}
}

// callAsPerson runs an action as a person at a terminal and returns its result.
func callAsPerson(t *testing.T, g *gateway.Gateway, name string, args map[string]any) gjson.Result {
	t.Helper()
	body, err := json.Marshal(map[string]any{"name": name, "args": args})
	if err != nil {
		t.Fatal(err)
	}
	status, answer := post(t, g.URL+"/api/v1/calls", g.Control(t), "application/json", string(body))
	if status != http.StatusOK || answer.Get("isError").Bool() {
		t.Fatalf("%s: status %d, %s", name, status, answer.Raw)
	}
	return gjson.Parse(answer.Get("result.content.0.text").String())
}

// dangerousArgs makes notes and returns, by TOOL.ACTION, arguments with which each dangerous action would do something.
func dangerousArgs(t *testing.T, g *gateway.Gateway, settings, folder string) map[string]map[string]any {
	t.Helper()
	box := callAsPerson(t, g, "notebook/create", map[string]any{"name": "Box"}).Get("id").String()
	callAsPerson(t, g, "fs/write", map[string]any{"path": "/Box/A", "markdown": "# Head\n\nwords #tea#\n\nmore words"})
	callAsPerson(t, g, "fs/write", map[string]any{"path": "/Box/B", "markdown": "other words"})
	one := func(where string) string {
		return callAsPerson(t, g, "search/query_sql", map[string]any{"stmt": "SELECT id FROM blocks WHERE " + where}).Get("data.0.id").String()
	}
	a, b, head := one("type='d' AND content='A'"), one("type='d' AND content='B'"), one("type='h' AND content='Head'")
	para, other := one("type='p' AND content LIKE '%tea%'"), one("type='p' AND content LIKE 'other%'")
	file := filepath.Join(folder, "plan.txt")
	if err := os.WriteFile(file, []byte("words"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, stderr, code := g.Run(t, g.Home, "file", "upload_asset", file, "--yes", "--json", "--config", settings)
	asset := regexp.MustCompile(`assets/[^"]+`).FindString(out)
	if code != 0 || asset == "" {
		t.Fatalf("upload an asset: %s%s", out, stderr)
	}
	callAsPerson(t, g, "timeline/create_node", map[string]any{"name": "before"})
	tag := callAsPerson(t, g, "timeline/list_nodes", nil).Get("data.0.tag").String()
	if out, stderr, code = g.Run(t, g.Home, "vault", "import", writeTeaArchive(t), "--config", settings); code != 0 {
		t.Fatalf("import a database: %s%s", out, stderr)
	}
	callAsPerson(t, g, "flashcard/create_card", map[string]any{"blockIDs": []string{para}})
	for _, n := range callAsPerson(t, g, "notebook/list", nil).Array() {
		if out, stderr, code = g.Run(t, g.Home, "siyuan", "permission", "set", n.Get("id").String(), "rwd", "--config", settings); code != 0 {
			t.Fatalf("set a level: %s%s", out, stderr)
		}
	}
	return map[string]map[string]any{
		"av.remove_column":           {"avID": database, "keyID": column},
		"av.remove_rows":             {"avID": database, "srcIDs": []string{row}},
		"block.delete":               {"id": para},
		"block.move":                 {"id": para, "previousID": other},
		"block.transfer_references":  {"fromID": para, "toID": other},
		"document.remove":            {"id": a},
		"document.move":              {"fromIDs": []string{a}, "toID": b},
		"document.heading_to_doc":    {"headingID": head, "targetNotebook": box},
		"document.doc_to_heading":    {"srcID": b, "targetID": head},
		"file.upload_asset":          {"localFilePath": file},
		"file.export_resources":      {"paths": []string{asset}, "outputPath": folder},
		"file.remove_unused_assets":  {},
		"file.rename_asset":          {"oldPath": asset, "newName": "b"},
		"file.delete_asset":          {"path": asset},
		"file.extract_doc":           {"id": a, "outputDir": folder},
		"flashcard.remove_card":      {"blockIDs": []string{para}},
		"fs.rm":                      {"path": "/Box/A"},
		"fs.mv":                      {"from": "/Box/A", "to": "/Box/C"},
		"notebook.remove":            {"notebook": box},
		"notebook.set_permission":    {"notebook": box, "permission": "rwd"},
		"search.find_replace":        {"k": "words", "r": "gone", "ids": []string{a}},
		"system.workspace_info":      {},
		"tag.rename":                 {"oldLabel": "tea", "newLabel": "coffee"},
		"tag.remove":                 {"label": "tea"},
		"timeline.rollback_document": {"documentId": a, "tag": tag},
	}
}

// The ids of the database of teas.
const (
	database = "20240101120000-avtests"
	column   = "20240101120000-keycolm"
	row      = "20240101120000-rowtest"
)

// writeTeaArchive writes a SiYuan archive with a notebook in which a document shows a database of one row, and returns its path.
func writeTeaArchive(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "teas.sy.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range map[string]string{
		"Teas/.siyuan/conf.json": `{"name":"Teas"}`,
		"Teas/20240101120000-docdata.sy": `{"ID":"20240101120000-docdata","Spec":"2","Type":"NodeDocument","Properties":{"id":"20240101120000-docdata","title":"Data"},
			"Children":[{"ID":"20240101120000-blockav","Type":"NodeAttributeView","AttributeViewID":"` + database + `","AttributeViewType":"table",
			"Properties":{"id":"20240101120000-blockav"}}]}`,
		"Teas/storage/av/" + database + ".json": `{"spec":3,"id":"` + database + `","name":"Tea","viewID":"20240101120000-viewtst","keyValues":[
			{"key":{"id":"20240101120000-keyname","name":"Name","type":"block"},"values":[{"id":"20240101120000-valname","keyID":"20240101120000-keyname",
			"blockID":"` + row + `","type":"block","isDetached":true,"block":{"id":"","content":"green"}}]},
			{"key":{"id":"` + column + `","name":"Kind","type":"text"}}],
			"views":[{"id":"20240101120000-viewtst","name":"Table","type":"table","itemIds":["` + row + `"],"table":{"id":"20240101120000-viewtst",
			"columns":[{"id":"20240101120000-keyname"},{"id":"` + column + `"}],"rowIds":["` + row + `"],"filters":[],"sorts":[]}}]}`,
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDangerousCommandsNeedAPerson posts dangerous actions as commands, with each key that is not a person's: each is
// stopped before it runs. It covers all dangerous actions except those that only people may call at all.
func TestDangerousCommandsNeedAPerson(t *testing.T) {
	p, settings := newPrograms(t, scriptOf(provider.Turn{Say: "no"}))
	home, folder := t.TempDir(), t.TempDir()
	raw, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(strings.Replace(string(raw), `"siyuan":{}`, fmt.Sprintf(`"siyuan":{"localFileRoots":[%q]}`, folder), 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"block.delete", "document.remove", "notebook.remove", "notebook.set_permission", "system.workspace_info", "timeline", "timeline.rollback_document"} {
		if out, stderr, code := p.Run(t, home, "siyuan", "config", "set", name, "on", "--config", settings); code != 0 {
			t.Fatalf("siyuan config set %s on: %s%s", name, out, stderr)
		}
	}
	g := p.ServeIn(t, home, settings)
	control, tokens := keysByScope(t, p, g, settings)
	args := dangerousArgs(t, g, settings, folder)
	var commands []string
	var list struct{ Tools []tool.Tool }
	g.Get(t, "/tools", &list)
	for _, l := range list.Tools {
		for _, a := range l.Actions {
			name := l.Name + "." + a.Name
			switch given, known := args[name]; {
			case !a.Dangerous && a.DangerousWith == "" || a.DirectOnly:
			case !known || a.Off != "":
				t.Errorf("the test does not know how %s is called, or it is off (%q): say so in targets", name, a.Off)
			default:
				raw, err := json.Marshal(given)
				if err != nil {
					t.Fatal(err)
				}
				commands = append(commands, fmt.Sprintf("/%s %s '%s'", l.Name, a.Name, raw))
			}
		}
	}
	if len(commands) < 20 {
		t.Fatalf("%d dangerous actions: %q", len(commands), commands)
	}
	for name, token := range tokens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, text := range commands {
				_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{}`)
				status, answer := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", token, "application/json", fmt.Sprintf(`{"userMessage":{"text":%q}}`, text))
				if status >= 400 {
					if status != http.StatusForbidden {
						t.Errorf("%s: status %d: %s", text, status, answer.Raw)
					}
					continue
				}
				end := awaitTurnEnd(t, g, answer.Get("turnId").String())
				if end.Get("state").String() != "error" || end.Get("error.code").String() != "confirmation_required" {
					t.Errorf("%s: %s, %s", text, end.Get("state"), end.Get("error").Raw)
				}
			}
		})
	}
}

// TestOnlyATerminalAllows sends permission to run actions without asking ("allow") in every request that could carry it:
// only the control key, which a person at a terminal has, may give it, and only for one turn.
func TestOnlyATerminalAllows(t *testing.T) {
	p, settings := newPrograms(t, scriptOf(callTurn("fs", `{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`), provider.Turn{Say: "got $RESULTS"}))
	g := p.Serve(t, settings)
	control, tokens := keysByScope(t, p, g, settings)
	tokens["control"] = control
	_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{"title":"one"}`)
	session := "/sessions/" + made.Get("id").String()
	_, accepted := post(t, g.URL+"/api/v1"+session+"/turns", control, "application/json", `{"userMessage":{"text":"go"}}`)
	end := awaitTurnEnd(t, g, accepted.Get("turnId").String())
	if end.Get("calls.0.state").String() != "refused" {
		t.Fatalf("without an allowance: %s", end.Raw)
	}
	question, answer := "/messages/"+end.Get("userMessageId").String(), "/messages/"+end.Get("assistantMessageId").String()
	_, exported := g.Ask(t, http.MethodGet, session+"/export", "")
	const allow = `["fs.*","fs.mv"]`
	imported := strings.Replace(string(exported), `"config": {`, `"config": {"allow":`+allow+`,`, 1)
	imported = strings.Replace(imported, `],}`, `]}`, 1)
	if !json.Valid([]byte(imported)) || !strings.Contains(imported, "allow") {
		t.Fatalf("not to be imported: %s", imported)
	}
	more := `"overrides":{"allow":` + allow + `}`
	say := fmt.Sprintf(`"userMessage":{"text":"go","parentId":%q}`, end.Get("assistantMessageId").String())
	for _, try := range []struct {
		method, path, media, body string
		person                    bool // a person at a terminal may
	}{
		{method: "POST", path: "/sessions", media: "application/json", body: `{"config":{"allow":` + allow + `}}`},
		{method: "PATCH", path: session, media: "application/json", body: `{"config":{"allow":` + allow + `}}`},
		{method: "POST", path: "/sessions/import", media: "application/json", body: imported},
		{method: "POST", path: session + "/turns", media: "application/json", body: `{` + say + `,` + more + `}`, person: true},
		{method: "POST", path: session + "/turns", media: "application/x-ndjson", body: `{` + say + `,` + more + `}`, person: true},
		{method: "POST", path: question + "/regenerate", media: "application/json", body: `{` + more + `}`, person: true},
		{method: "POST", path: answer + "/regenerate", media: "application/json", body: `{` + more + `}`, person: true},
		{method: "POST", path: answer + "/continue", media: "application/json", body: `{` + more + `}`},
		{method: "POST", path: question + "/edit", media: "application/json", body: `{"parts":[{"type":"text","text":"go"}],` + more + `}`, person: true},
	} {
		for name, token := range tokens {
			r, err := http.NewRequestWithContext(t.Context(), try.method, g.URL+"/api/v1"+try.path, strings.NewReader(try.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", try.media)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			switch allowed := resp.StatusCode < 400; {
			case name == "control" && try.person:
				if !allowed {
					t.Errorf("a person: %s %s: status %d, %s", try.method, try.path, resp.StatusCode, said)
				}
			case try.path == "/sessions/import" && allowed: // the import leaves out the permission
				if config := gjson.GetBytes(said, "config"); config.Get("allow").Exists() {
					t.Errorf("token %s imported %s", name, config)
				}
			case allowed:
				t.Errorf("token %s: %s %s: status %d, %s", name, try.method, try.path, resp.StatusCode, said)
			}
		}
	}
}

// TestAnsweredAgainIsNotTyped regenerates, as a person, the answer to a command that a token has sent: the command does
// not count as typed by the person.
func TestAnsweredAgainIsNotTyped(t *testing.T) {
	p, settings := newPrograms(t, scriptOf(provider.Turn{Say: "no"}))
	g := p.Serve(t, settings)
	control, tokens := keysByScope(t, p, g, settings)
	_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{}`)
	_, accepted := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", tokens["chat"], "application/json", `{"userMessage":{"text":"/fs mv --from /Welcome/Writing --to /Welcome/Evil"}}`)
	end := awaitTurnEnd(t, g, accepted.Get("turnId").String())
	for _, again := range []string{end.Get("userMessageId").String() + "/regenerate", end.Get("assistantMessageId").String() + "/regenerate", end.Get("assistantMessageId").String() + "/continue"} {
		status, accepted := post(t, g.URL+"/api/v1/messages/"+again, control, "application/json", `{}`)
		if status != http.StatusAccepted {
			t.Fatalf("%s: status %d: %s", again, status, accepted.Raw)
		}
		if end := awaitTurnEnd(t, g, accepted.Get("turnId").String()); end.Get("error.code").String() != "confirmation_required" {
			t.Errorf("%s: %s", again, end.Raw)
		}
	}
}
