package document

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions document.rename and document.set_attr.

type renameArgs struct {
	ID       kernel.ID `json:"id" about:"document id"`
	Notebook kernel.ID `json:"notebook" about:"notebook id, with path"`
	Path     string    `json:"path" about:"storage path, with notebook"`
	Title    string    `json:"title" about:"new title" req:"true" min:"1" max:"512"`
}

type renameResult struct {
	Success bool `json:"success" about:"true"`
	resultPlace
	Title string `json:"title" about:"its title now"`
}

// rename returns the action rename of the tool document.
func rename() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "rename", Purpose: "Give a document another title",
		Guide: `Give id, or notebook and path. A title has no "/" in it. Documents below keep their place.`,
		Class: action.State, Risk: tool.RiskLow, Effects: tool.EffectWrite,
		Inverse:    renameInverse,
		Needs:      []action.Need{needsOneDocument(access.Write)},
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
		p, err := currentPlace(ctx, r, t.Root)
		if err != nil {
			return nil, err
		}
		// The kernel may normalize a title. If the title did not change at all, it was not written.
		if p == nil || p.Title == t.Title && visibleTitle(title) != visibleTitle(t.Title) {
			return nil, mismatchError(t.Root, "the kernel accepted the title, and the document has the one that it had")
		}
		hpath, err := r.Kernel.HPathByID(ctx, t.Root)
		if err != nil {
			return nil, err
		}
		r.RefreshDocument(t.Root)
		r.RefreshTree()
		return renameResult{true, resultPlace{t.Root, t.Notebook, t.Path, hpath}, lastTitle(hpath)}, nil
	})
}

// resultPlace is the place of a document in a result.
type resultPlace struct {
	ID       kernel.ID `json:"id" about:"document id"`
	Notebook kernel.ID `json:"notebook" about:"notebook id"`
	Path     string    `json:"path" about:"storage path"`
	HPath    string    `json:"hPath" about:"human path"`
}

// longestTitle is the maximum length of a title in characters.
const longestTitle = 512

// cleanTitle normalizes a title like the kernel: one line, trimmed.
func cleanTitle(r *action.Request, param, text string) (string, error) {
	title := strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c == '\t' || c == '\r' || c == '\n' }), " ")
	title = strings.TrimSpace(title)
	switch {
	case !strings.ContainsFunc(title, isVisibleRune):
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

// isVisibleRune reports whether a character is visible. The kernel replaces a title without visible characters by
// "Untitled".
func isVisibleRune(c rune) bool { return unicode.IsGraphic(c) && !unicode.IsSpace(c) }

// visibleTitle returns the visible characters of a title. The kernel drops most others.
func visibleTitle(title string) string {
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

// renameInverse returns the call that restores the current title.
func renameInverse(ctx context.Context, r *action.Request) (*action.Inverse, error) {
	written := r.WritableTargets()
	if len(written) == 0 {
		return nil, nil
	}
	hpath, err := r.Kernel.HPathByID(ctx, written[0].ID)
	if err != nil {
		return nil, err
	}
	args, err := action.Encode(map[string]any{"id": written[0].Root, "title": lastTitle(hpath)})
	return &action.Inverse{Tool: "document", Action: "rename", Args: args}, err
}

// lastTitle returns the title of the document at a human path.
func lastTitle(hpath string) string { return hpath[strings.LastIndexByte(hpath, '/')+1:] }

type setAttrArgs struct {
	ID    kernel.ID  `json:"id" about:"document id" req:"true"`
	Attrs appearance `json:"attrs" about:"what to change" req:"true" list:"json"`
}

// appearance holds the icon and cover of a document.
type appearance struct {
	Icon  nullableText `json:"icon" about:"emoji, or its code points; null or \"\" takes it away"`
	Cover nullableText `json:"cover" about:"http(s) URL or /assets/… of an image; null or \"\" takes it away"`
}

// nullableText is a text or null. It distinguishes null from a missing argument.
type nullableText struct {
	given bool
	text  string
}

// UnmarshalJSON reads a text or null.
func (c *nullableText) UnmarshalJSON(raw []byte) error {
	c.given = true
	return json.Unmarshal(raw, &c.text) // null leaves it empty
}

// ArgSchema returns the schema of the type.
func (nullableText) ArgSchema() string { return `{"type":["string","null"]}` }

// coverAttr is the attribute that holds the cover, as a style.
const coverAttr = "title-img"

type setAttrResult struct {
	Success bool              `json:"success" about:"true"`
	ID      kernel.ID         `json:"id" about:"document id"`
	Attrs   map[string]string `json:"attrs" about:"attributes as they are stored now"`
}

// setAttr returns the action set_attr of the tool document.
func setAttr() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "set_attr", Purpose: "Set the icon or the cover of a document",
		Guide: `Other attributes: block(action="set_attrs").`,
		Class: action.State, Risk: tool.RiskLow, Effects: tool.EffectWrite,
		Inverse:   appearanceInverse,
		Needs:     []action.Need{needsDocument(access.Write, "id")},
		Endpoints: []string{"attr/setBlockAttrs", "attr/getBlockAttrs"},
		Result:    setAttrResult{},
		Example:   `{"id":"20240101120000-abcdefg","attrs":{"icon":"1f4d4","cover":null}}`,
	}, func(ctx context.Context, r *action.Request, a setAttrArgs) (any, error) {
		attrs, err := a.Attrs.attrs(r)
		if err != nil {
			return nil, err
		}
		id := r.Target("id").Root
		before, err := r.Kernel.Attrs(ctx, id)
		if err != nil {
			return nil, err
		}
		if err := content.AdmitAssets(ctx, r, []string{attrs[coverAttr]}, before[coverAttr]); err != nil {
			return nil, err
		}
		if err := r.Kernel.SetAttrs(ctx, id, attrs); err != nil {
			return nil, err
		}
		got, err := r.Kernel.Attrs(ctx, id)
		if err != nil {
			return nil, err
		}
		for name, want := range attrs {
			// The kernel may normalize a value. If the value did not change at all, it was not written.
			if got[name] != want && got[name] == before[name] {
				return nil, mismatchError(id, fmt.Sprintf("attribute %q is still %q after the write, not %q", name, got[name], want))
			}
			attrs[name] = got[name]
		}
		if a.Attrs.Icon.given {
			r.RefreshIcons()
		}
		r.RefreshTree()
		r.RefreshDocument(id)
		return setAttrResult{true, id, attrs}, nil
	})
}

// appearanceInverse returns the call that restores the current icon and cover.
func appearanceInverse(ctx context.Context, r *action.Request) (*action.Inverse, error) {
	id := r.Target("id").Root
	now, err := r.Kernel.Attrs(ctx, id)
	if err != nil {
		return nil, err
	}
	args, err := action.Encode(map[string]any{"id": id, "attrs": map[string]string{"icon": now["icon"], coverAttr: now[coverAttr]}})
	return &action.Inverse{Tool: "block", Action: "set_attrs", Args: args}, err
}

// attrs returns the given attributes as the kernel stores them.
func (a *appearance) attrs(r *action.Request) (map[string]string, error) {
	out := map[string]string{}
	if a.Icon.given {
		code, err := r.Icon("attrs/icon", a.Icon.text)
		if err != nil {
			return nil, err
		}
		out["icon"] = code
	}
	if a.Cover.given {
		style, ok := coverStyle(a.Cover.text)
		if !ok {
			return nil, r.Invalid("attrs/cover", "must be an http(s) URL or the path of an asset, such as /assets/cover.png")
		}
		out[coverAttr] = style
	}
	if len(out) == 0 {
		return nil, r.Invalid("attrs", "must have icon or cover")
	}
	return out, nil
}

// coverStyle returns a cover as the kernel stores it, "" for none.
func coverStyle(cover string) (style string, ok bool) {
	cover = strings.TrimSpace(cover)
	if cover == "" {
		return "", true
	}
	if strings.ContainsAny(cover, "\"\\\n\r\t<>{}") { // characters that would end the style
		return "", false
	}
	if u, err := url.Parse(cover); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return fmt.Sprintf(`background-image:url("%s");`, cover), true
	}
	if asset := "/" + strings.TrimPrefix(cover, "/"); strings.HasPrefix(asset, "/assets/") && path.Clean(asset) == asset {
		return fmt.Sprintf(`background-image:url("%s");`, asset), true
	}
	return "", false
}
