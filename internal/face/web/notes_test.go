package web_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"collie/internal/face/web"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// notebooks are notes with one notebook and one write.
type notebooks struct{}

func (notebooks) Levels(context.Context) ([]notesadmin.NotebookLevel, error) {
	return []notesadmin.NotebookLevel{{ID: "20260101000000-abcdefg", Name: "工作", Level: "r"}}, nil
}

func (notebooks) SetLevel(_ context.Context, id, _ string) (notesadmin.NotebookLevel, error) {
	return notesadmin.NotebookLevel{ID: id, Name: "工作", Level: "r"}, nil
}

func (n notebooks) Writes() ([]notesadmin.Write, error) {
	w, err := n.Write("w1")
	return []notesadmin.Write{*w}, err
}

func (notebooks) NameWrites(context.Context, []notesadmin.Write) error { return nil }

func (notebooks) Write(id string) (*notesadmin.Write, error) {
	return &notesadmin.Write{ID: id, Tool: "fs", Action: "write", State: "committed", Targets: []string{"20260101000000-hijklmn"}}, nil
}

func (notebooks) ChangedSince(context.Context, *notesadmin.Write) ([]string, error) { return nil, nil }
func (notebooks) Restore(context.Context, *notesadmin.Write) error                  { return nil }
func (notebooks) Undone(*notesadmin.Write) error                                    { return nil }

// Lowering the level of a notebook takes effect at once. Raising it requires the name of the notebook in typed.
func TestRaisingALevelTakesTheName(t *testing.T) {
	t.Parallel()
	c := newClientOfAllParts(t)
	for body, status := range map[string]int{
		`{"notebook":"工作","level":"none"}`:               200,
		`{"notebook":"工作","level":"rw"}`:                 403,
		`{"notebook":"工作","level":"RWD"}`:                403,
		`{"notebook":"工作","level":" rw "}`:               403,
		`{"notebook":"工作","level":"rwd","typed":"work"}`: 403,
		`{"notebook":"工作","level":"rwd","typed":" 工作 "}`: 200,
		`{"notebook":"private","level":"none"}`:          404,
	} {
		if _, got := c.do(status, http.MethodPost, "/notes/levels", body); status == 403 && got.Get("error.hint").Str != "type: 工作" {
			t.Errorf("%s: %s", body, got.Raw)
		}
	}
}

// halfUndone are notes whose writes cannot be taken back, or only in part.
type halfUndone struct {
	notebooks

	err error
}

func (n halfUndone) Restore(context.Context, *notesadmin.Write) error { return n.err }

// An undo is on record if it may have changed anything.
func TestUndoIsOnRecord(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err    error
		status int
		want   string
	}{
		"done":    {nil, 200, "[siyuan undo w1 <nil>]"},
		"in part": {&tool.Error{Op: "undo", Kind: tool.Upstream, OutcomeUnknown: true}, 502, "[siyuan undo w1 unknown]"},
		"refused": {&tool.Error{Op: "undo", Kind: tool.Denied}, 403, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records := []string{}
			c := client{t, web.New(web.Options{
				Notes:    func() (web.Notes, error) { return halfUndone{err: tt.err}, nil },
				Identify: func(*http.Request) web.Identity { return web.Identity{Manage: true, Browser: true} },
				Record: func(_ context.Context, command string, detail map[string]any) {
					records = append(records, fmt.Sprint(command, " ", detail["requestId"], " ", detail["outcome"]))
				},
			})}
			c.do(tt.status, http.MethodPost, "/notes/writes/w1/undo", `{}`)
			if got := fmt.Sprint(records); got != tt.want {
				t.Errorf("on record is %s, want %s", got, tt.want)
			}
		})
	}
}

func (notebooks) Rules(context.Context) (string, error)   { return "Answer in one sentence.", nil }
func (notebooks) SetRules(context.Context, string) error  { return nil }
func (notebooks) Memory(context.Context) (string, error)  { return "", nil }
func (notebooks) SetMemory(context.Context, string) error { return nil }
