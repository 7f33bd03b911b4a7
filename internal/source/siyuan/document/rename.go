package document

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type renameArgs struct {
	ID       kernel.ID `json:"id" about:"document id"`
	Notebook kernel.ID `json:"notebook" about:"notebook id, with path"`
	Path     string    `json:"path" about:"storage path, with notebook"`
	Title    string    `json:"title" about:"new title" req:"true" min:"1" max:"512"`
}

type renameResult struct {
	Success bool `json:"success" about:"true"`
	place
	Title string `json:"title" about:"its title now"`
}

func rename() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "rename", Purpose: "Give a document another title",
		Guide:      `Give id, or notebook and path. A title has no "/" in it. Documents below keep their place.`,
		Class:      action.State,
		Inverse:    renameBack,
		Needs:      []action.Need{one(access.Write)},
		Endpoints:  []string{"filetree/renameDocByID", "filetree/getHPathByID", "block/getBlockInfo"},
		Positional: []string{"id", "title"},
		Result:     renameResult{},
		Example:    `{"id":"20240101120000-abcdefg","title":"Meeting notes"}`,
	}, func(ctx context.Context, r *action.Request, a renameArgs) (any, error) {
		t := r.Target("id")
		title, err := cleanTitle(r, "title", a.Title)
		if err != nil {
			return nil, err
		}
		if err := r.Kernel.RenameDocument(ctx, t.Root, title); err != nil {
			return nil, err
		}
		p, err := now(ctx, r, t.Root)
		if err != nil {
			return nil, err
		}
		// The kernel may write a title in a form of its own; one that did not change was not written.
		if p == nil || p.Title == t.Title && seen(title) != seen(t.Title) {
			return nil, mismatch(t.Root, "the kernel accepted the title, and the document has the one that it had")
		}
		hpath, err := r.Kernel.HPathByID(ctx, t.Root)
		if err != nil {
			return nil, err
		}
		r.RefreshDocument(t.Root)
		r.RefreshTree()
		return renameResult{true, place{t.Root, t.Notebook, t.Path, hpath}, lastTitle(hpath)}, nil
	})
}

// place is where a document is, in a result.
type place struct {
	ID       kernel.ID `json:"id" about:"document id"`
	Notebook kernel.ID `json:"notebook" about:"notebook id"`
	Path     string    `json:"path" about:"storage path"`
	HPath    string    `json:"hPath" about:"human path"`
}

// longestTitle is in characters.
const longestTitle = 512

// cleanTitle is a title as the kernel takes it: on one line, without spaces around it.
func cleanTitle(r *action.Request, param, text string) (string, error) {
	title := strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c == '\t' || c == '\r' || c == '\n' }), " ")
	title = strings.TrimSpace(title)
	switch {
	case !strings.ContainsFunc(title, visible):
		return "", r.Invalid(param, "must not be empty")
	case title == ".", title == "..":
		return "", r.Invalid(param, fmt.Sprintf("must not be %q: in a path it means another document", title))
	case strings.Contains(title, "/"):
		return "", r.Invalid(param, `must not have "/" in it: it parts the titles of a path`)
	case utf8.RuneCountInString(title) > longestTitle:
		return "", r.Invalid(param, fmt.Sprintf("must not be longer than %d characters", longestTitle))
	}
	return title, nil
}

// visible reports whether a character can be seen; of a title without any the kernel makes
// "Untitled".
func visible(c rune) bool { return unicode.IsGraphic(c) && !unicode.IsSpace(c) }

// seen is what can be seen of a title: the kernel drops most of the rest.
func seen(title string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case !unicode.IsGraphic(c):
			return -1
		}
		return c
	}, title)
}

// renameBack gives the document the title that it has now.
func renameBack(ctx context.Context, r *action.Request) (*action.Inverse, error) {
	for _, t := range r.Written() {
		hpath, err := r.Kernel.HPathByID(ctx, t.ID)
		if err != nil {
			return nil, err
		}
		args, err := action.Encode(map[string]any{"id": t.Root, "title": lastTitle(hpath)})
		return &action.Inverse{Tool: "document", Action: "rename", Args: args}, err
	}
	return nil, nil
}

// lastTitle is the title of the document at a human path.
func lastTitle(hpath string) string { return hpath[strings.LastIndexByte(hpath, '/')+1:] }
