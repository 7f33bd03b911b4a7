package document

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type setAttrArgs struct {
	ID    kernel.ID  `json:"id" about:"document id" req:"true"`
	Attrs appearance `json:"attrs" about:"what to change" req:"true" list:"json"`
}

// appearance is what a document shows besides its text.
type appearance struct {
	Icon  clearable `json:"icon" about:"emoji, or its code points; null or \"\" takes it away"`
	Cover clearable `json:"cover" about:"http(s) URL or /assets/… of an image; null or \"\" takes it away"`
}

// clearable is a text that may be null, which is told from not being there.
type clearable struct {
	given bool
	text  string
}

// UnmarshalJSON reads a text or null.
func (c *clearable) UnmarshalJSON(raw []byte) error {
	c.given = true
	return json.Unmarshal(raw, &c.text) // null leaves it empty
}

// ArgSchema is the schema of the type.
func (clearable) ArgSchema() string { return `{"type":["string","null"]}` }

// coverAttr is the attribute that holds the cover, as a style.
const coverAttr = "title-img"

type setAttrResult struct {
	Success bool              `json:"success" about:"true"`
	ID      kernel.ID         `json:"id" about:"document id"`
	Attrs   map[string]string `json:"attrs" about:"attributes as they are stored now"`
}

func setAttr() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "set_attr", Purpose: "Set the icon or the cover of a document",
		Guide:     `Other attributes: block(action="set_attrs").`,
		Class:     action.State,
		Inverse:   appearanceBack,
		Needs:     []action.Need{document(access.Write, "id")},
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
			// The kernel may write a value in a form of its own; one that did not change was not written.
			if got[name] != want && got[name] == before[name] {
				return nil, mismatch(id, fmt.Sprintf("attribute %q is still %q after the write, not %q", name, got[name], want))
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

// appearanceBack sets icon and cover as they are now.
func appearanceBack(ctx context.Context, r *action.Request) (*action.Inverse, error) {
	id := r.Target("id").Root
	now, err := r.Kernel.Attrs(ctx, id)
	if err != nil {
		return nil, err
	}
	args, err := action.Encode(map[string]any{"id": id, "attrs": map[string]string{"icon": now["icon"], coverAttr: now[coverAttr]}})
	return &action.Inverse{Tool: "block", Action: "set_attrs", Args: args}, err
}

// attrs are the attributes that were given, as the kernel stores them.
func (a *appearance) attrs(r *action.Request) (map[string]string, error) {
	out := map[string]string{}
	if a.Icon.given {
		code, err := icon(r, "attrs/icon", a.Icon.text)
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

// coverStyle is a cover as the kernel stores it, "" for none.
func coverStyle(cover string) (style string, ok bool) {
	cover = strings.TrimSpace(cover)
	if cover == "" {
		return "", true
	}
	if strings.ContainsAny(cover, "\"\\\n\r\t<>{}") { // it would end the style
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
