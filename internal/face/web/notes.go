package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// Notes is the management of the notes that this face needs.
type Notes interface {
	Levels(ctx context.Context) ([]notesadmin.NotebookLevel, error)
	SetLevel(ctx context.Context, notebook, level string) (before notesadmin.NotebookLevel, err error)
	Writes() ([]notesadmin.Write, error)
	Write(id string) (*notesadmin.Write, error)
	NameWrites(ctx context.Context, list []notesadmin.Write) error
	ChangedSince(ctx context.Context, w *notesadmin.Write) ([]string, error)
	Restore(ctx context.Context, w *notesadmin.Write) error
	Undone(w *notesadmin.Write) error
	Rules(ctx context.Context) (string, error)
	SetRules(ctx context.Context, text string) error
	Memory(ctx context.Context) (string, error)
	SetMemory(ctx context.Context, text string) error
}

// noteRoutes returns the routes that manage access to the notes and undo writes.
func noteRoutes() []Route {
	return []Route{
		{"GET /api/v1/notes/levels", ClassManage, (*api).levels, about{summary: "What tools may do in each notebook", out: levelList{}}},
		{"POST /api/v1/notes/levels", ClassManage, (*api).setLevel, about{
			summary: "Set the level of a notebook; to raise it, its name is sent in typed", in: levelChange{}, out: levelList{}, framed: true,
		}},
		{"GET /api/v1/notes/writes", ClassManage, (*api).writes, about{summary: "The writes of the last days, the newest first", out: writeList{}}},
		{"GET /api/v1/notes/writes/{id}", ClassManage, (*api).write, about{summary: "A write, what was there before it, and what has changed since", out: oneWrite{}}},
		{"POST /api/v1/notes/writes/{id}/undo", ClassManage, (*api).undoWrite, about{summary: "Take a write back", in: none{}, out: none{}}},
		{"GET /api/v1/notes/rules", ClassManage, readText(Notes.Rules), about{summary: "The rules that a person has given models for the notes, one a line", out: noteRules{}}},
		{"PUT /api/v1/notes/rules", ClassManage, writeText("userRulesText", Notes.SetRules), about{summary: "Replace these rules", in: noteRules{}}},
		{"GET /api/v1/notes/memory", ClassManage, readText(Notes.Memory), about{summary: "What models have kept for later, the /AGENTS.md of the notes", out: noteRules{}}},
		{"PUT /api/v1/notes/memory", ClassManage, writeText("agentSiyuanMemoryText", Notes.SetMemory), about{summary: "Replace this memory", in: noteRules{}}},
	}
}

type noteRules struct {
	Text string `json:"text"`
}

// readText returns the handler that answers with a text for models that is stored with the notes.
func readText(read func(Notes, context.Context) (string, error)) func(*api, http.ResponseWriter, *http.Request) error {
	return func(a *api, w http.ResponseWriter, r *http.Request) error {
		notes, err := a.opts.Notes()
		if err != nil {
			return err
		}
		text, err := read(notes, r.Context())
		if err != nil {
			return err
		}
		return answer(w, noteRules{text})
	}
}

// writeText returns the handler that replaces such a text. name is the name of the text in the audit.
func writeText(name string, write func(Notes, context.Context, string) error) func(*api, http.ResponseWriter, *http.Request) error {
	return func(a *api, w http.ResponseWriter, r *http.Request) error {
		var body noteRules
		if err := decodeBody(r, &body, `{"text":…}`); err != nil {
			return err
		}
		notes, err := a.opts.Notes()
		if err != nil {
			return err
		}
		err = write(notes, r.Context(), body.Text)
		if detail, ok := notesadmin.OnRecord(map[string]any{"name": name, "bytes": len(body.Text)}, err); ok {
			a.record(r, "siyuan config set", detail)
		}
		return answerNoContent(w, err)
	}
}

type levelList struct {
	Levels    []string                   `json:"levels"` // all levels, lowest first
	Notebooks []notesadmin.NotebookLevel `json:"notebooks"`
}

type levelChange struct {
	Notebook string `json:"notebook"` // its id
	Level    string `json:"level"`
	Typed    string `json:"typed,omitempty"` // the notebook's name, required to raise its level
}

type writeList struct {
	Writes []recentWrite `json:"writes"`
}

type recentWrite struct {
	ID      string    `json:"requestId"`
	Tool    string    `json:"tool"`
	Action  string    `json:"action"`
	State   string    `json:"state"`
	Created time.Time `json:"createdAt"`
	Names   []string  `json:"names"` // names of the changed notes, or ids
	CanUndo bool      `json:"canUndo"`
	NoUndo  string    `json:"noUndo,omitempty"` // why it cannot be undone
}

type oneWrite struct {
	Write  recentWrite  `json:"write"`
	Before []beforeText `json:"before"` // text that undo would restore
	// Inverse is the call that undoes the write, if that is not done by restoring text.
	Inverse string `json:"inverse,omitempty"`
	// Added is the id of the document that the write has made, and that undo would remove.
	Added string `json:"added,omitempty"`
	// AddedBlocks are the ids of the blocks that the write has made, and that undo would remove.
	AddedBlocks []string `json:"addedBlocks,omitempty"`
	Since       []string `json:"changedSince"` // ids of blocks changed since, whose changes undo would lose
}

type beforeText struct {
	ID       string `json:"id"`
	Path     string `json:"path,omitempty"`
	Document bool   `json:"document,omitempty"`
	Text     string `json:"text"` // kramdown
}

func (a *api) levels(w http.ResponseWriter, r *http.Request) error {
	notes, err := a.opts.Notes()
	if err != nil {
		return err
	}
	all, err := notes.Levels(r.Context())
	if err != nil {
		return err
	}
	return answer(w, levelList{notesadmin.LevelNames(), append([]notesadmin.NotebookLevel{}, all...)})
}

// setLevel sets a level. To raise it, the name of the notebook must be typed, so that nobody does it by accident.
func (a *api) setLevel(w http.ResponseWriter, r *http.Request) error {
	var change levelChange
	if err := decodeBody(r, &change, `{"notebook":…,"level":"rw","typed":…}`); err != nil {
		return err
	}
	change.Level = strings.ToLower(strings.TrimSpace(change.Level)) // SetLevel takes a level in any case
	notes, err := a.opts.Notes()
	if err != nil {
		return err
	}
	all, err := notes.Levels(r.Context())
	if err != nil {
		return err
	}
	notebook, err := notesadmin.FindNotebook(all, change.Notebook)
	if err != nil {
		return err
	}
	if rank(change.Level) > rank(notebook.Level) && strings.TrimSpace(change.Typed) != strings.TrimSpace(notebook.Name) {
		return &tool.Error{
			Op: "set level", Kind: tool.Unconfirmed, Subject: notebook.Name, Message: "tools are allowed more in a notebook when its name is typed", Hint: "type: " + notebook.Name,
		}
	}
	before, err := notes.SetLevel(r.Context(), notebook.ID, change.Level)
	held := errors.Is(err, notesadmin.ErrLevelHeld)
	if detail, ok := notesadmin.OnRecord(map[string]any{"notebook": before.ID, "from": before.Level, "to": change.Level, "held": held}, err); ok {
		a.record(r, "siyuan permission set", detail)
	}
	if err != nil {
		return err
	}
	return a.levels(w, r)
}

// rank returns the index of a level; -1 if it is unknown.
func rank(level string) int {
	for i, name := range notesadmin.LevelNames() {
		if name == level {
			return i
		}
	}
	return -1
}

func (a *api) writes(w http.ResponseWriter, r *http.Request) error {
	notes, err := a.opts.Notes()
	if err != nil {
		return err
	}
	all, err := notes.Writes()
	if err != nil {
		return err
	}
	_ = notes.NameWrites(r.Context(), all) // without a kernel they keep the names that they have
	out := writeList{make([]recentWrite, len(all))}
	for i := range all {
		out.Writes[i] = describeWrite(&all[i])
	}
	return answer(w, out)
}

func describeWrite(w *notesadmin.Write) recentWrite {
	names := w.Names
	if len(names) == 0 {
		names = w.Targets
	}
	return recentWrite{w.ID, w.Tool, w.Action, string(w.State), w.Created, append([]string{}, names...), w.CanUndo(), w.NoUndo}
}

func (a *api) write(w http.ResponseWriter, r *http.Request) error {
	notes, err := a.opts.Notes()
	if err != nil {
		return err
	}
	one, err := notes.Write(r.PathValue("id"))
	if err != nil {
		return err
	}
	named := []notesadmin.Write{*one}
	_ = notes.NameWrites(r.Context(), named) // without a kernel it keeps the names that it has
	out := oneWrite{Write: describeWrite(&named[0]), Before: make([]beforeText, len(one.Before)), Added: string(one.Added), Since: []string{}}
	for i := range one.Before {
		b := &one.Before[i]
		out.Before[i] = beforeText{string(b.ID), b.HPath, b.Document, b.Kramdown}
	}
	for _, id := range one.AddedBlocks {
		out.AddedBlocks = append(out.AddedBlocks, string(id))
	}
	if one.Inverse != nil {
		out.Inverse = one.Inverse.Tool + " " + one.Inverse.Action + " " + string(one.Inverse.Args)
	}
	if one.CanUndo() {
		since, err := notes.ChangedSince(r.Context(), one)
		if err != nil {
			return err
		}
		out.Since = append(out.Since, since...)
	}
	return answer(w, out)
}

func (a *api) undoWrite(w http.ResponseWriter, r *http.Request) error {
	if err := decodeBody(r, &none{}, `{}`); err != nil {
		return err
	}
	notes, err := a.opts.Notes()
	if err != nil {
		return err
	}
	one, err := notes.Write(r.PathValue("id"))
	if err != nil {
		return err
	}
	err = a.undo(r, notes, one)
	if detail, ok := notesadmin.OnRecord(map[string]any{"requestId": one.ID, "tool": one.Tool, "action": one.Action, "targets": one.Targets}, err); ok {
		a.record(r, "siyuan undo", detail)
	}
	if err != nil {
		return err
	}
	return answer(w, none{})
}

// undo undoes a write: by its inverse call, which goes through the pipeline like any other, or by restoring text. If
// that is impossible, the error says why.
func (a *api) undo(r *http.Request, notes Notes, w *notesadmin.Write) error {
	call := notesadmin.UndoCall(w, a.opts.Identify(r).Principal, tool.PagesClient, agreed{})
	if call == nil || !w.CanUndo() {
		return notes.Restore(r.Context(), w)
	}
	result, err := a.opts.Pipeline.Do(r.Context(), *call)
	if err != nil {
		return err
	}
	if result.IsError {
		return &tool.Error{Op: "undo", Kind: tool.Upstream, Subject: w.ID, Message: "the call that takes it back failed: " + call.Name, Hint: "the audit has its record"}
	}
	return notes.Undone(w)
}

// agreed is a [tool.Caller] that confirms exactly one call, to which a person has agreed in the pages.
type agreed struct{}

func (agreed) ID() string                                      { return "" }
func (agreed) Supports(c tool.Capability) bool                 { return c == tool.CanConfirm }
func (agreed) Capabilities() json.RawMessage                   { return json.RawMessage(`{}`) }
func (agreed) Notify(context.Context, string, json.RawMessage) {}

// Ask confirms the call, and refuses all other questions.
func (agreed) Ask(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	var question struct {
		Name string `json:"name"`
	}
	if method != tool.MethodConfirm {
		return nil, errNotAsked
	}
	if err := json.Unmarshal(params, &question); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"confirm": true, "beforehand": true, "name": question.Name})
}
