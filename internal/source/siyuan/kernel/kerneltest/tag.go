package kerneltest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/sjson"
)

// tags is what the kernel keeps of tags beside the notes: the user's order, which every listing writes.
type tags struct {
	sort  int
	asked bool
}

// tagFamily answers tags.
func tagFamily(k *Kernel) {
	t := &tags{}
	k.handle("/api/tag/getTag", t.tree)
	k.handle("/api/tag/renameTag", renameTag)
	k.handle("/api/tag/removeTag", removeTag)
	k.handle("/api/search/searchTag", searchTag)
	const getConf = "/api/system/getConf"
	conf := k.routes[getConf]
	k.routes[getConf] = func(k *Kernel, req request) reply {
		rep := conf(k, req)
		if t.asked {
			data, err := sjson.SetBytes(mustJSON(rep.data), "conf.tag.sort", t.sort)
			if err != nil {
				panic("kerneltest: " + err.Error())
			}
			rep.data = json.RawMessage(data)
		}
		return rep
	}
}

// tagEntry is a tag in the tree.
type tagEntry struct {
	Name     string      `json:"name"`
	Label    string      `json:"label"`
	Children []*tagEntry `json:"children"`
	Type     string      `json:"type"`
	Depth    int         `json:"depth"`
	Count    int         `json:"count"`
}

// tree lists all tags, and keeps the order that it is given, 0 where it is given none.
func (t *tags) tree(k *Kernel, req request) reply {
	t.sort, t.asked = req.optNum("sort", 0), true
	top := &tagEntry{}
	counts := k.tagCounts()
	for _, label := range slices.Sorted(maps.Keys(counts)) {
		at, path := top, ""
		for depth, name := range strings.Split(label, "/") {
			path = strings.TrimPrefix(path+"/"+name, "/")
			i := slices.IndexFunc(at.Children, func(c *tagEntry) bool { return c.Name == name })
			if i < 0 {
				i = len(at.Children)
				at.Children = append(at.Children, &tagEntry{Name: name, Label: path, Type: "tag", Depth: depth})
			}
			at = at.Children[i]
		}
		at.Count = counts[label]
	}
	if top.Children == nil {
		top.Children = []*tagEntry{}
	}
	return ok(top.Children)
}

// tagCounts counts the uses of each tag in open notebooks.
func (k *Kernel) tagCounts() map[string]int {
	counts := map[string]int{}
	for _, d := range k.sortedDocuments() {
		d.root.walk(func(b *block) {
			for _, tag := range strings.Split(blockTags(b), "# #") {
				if tag = strings.Trim(tag, "# "); tag != "" {
					counts[tag]++
				}
			}
		})
	}
	return counts
}

func searchTag(k *Kernel, req request) reply {
	query := req.str("k")
	found := []string{}
	for _, label := range slices.Sorted(maps.Keys(k.tagCounts())) {
		if query == "" {
			found = append(found, label)
		} else if strings.Contains(strings.ToLower(label), strings.ToLower(query)) {
			found = append(found, marker([]string{query})(label))
		}
	}
	return ok(map[string]any{"k": query, "tags": found})
}

// renameTag renames a tag and those below it. One that does not exist is no error.
func renameTag(k *Kernel, req request) reply {
	old, label := req.needText("oldLabel"), req.needText("newLabel")
	if strings.Contains(label, "#") {
		return notice("Do not include Markdown syntax marker [#]", 5000)
	}
	k.retag(func(tag string) (string, bool) {
		switch {
		case tag == old:
			return label, true
		case strings.HasPrefix(tag, old+"/"):
			return label + tag[len(old):], true
		}
		return tag, true
	})
	return done()
}

// removeTag makes plain text of a tag.
func removeTag(k *Kernel, req request) reply {
	label := req.needText("label")
	k.retag(func(tag string) (string, bool) { return tag, tag != label })
	return done()
}

// retag gives every tag of open notebooks another label; what is no tag any more stays as text.
func (k *Kernel) retag(change func(tag string) (label string, stays bool)) {
	for _, d := range k.sortedDocuments() {
		if held := d.root.attrs["tags"]; held != "" {
			var kept []string
			for tag := range strings.SplitSeq(held, ",") {
				if label, stays := change(strings.TrimSpace(tag)); stays {
					kept = append(kept, label)
				}
			}
			d.root.attrs["tags"] = strings.Join(kept, ",")
		}
		d.root.walk(func(b *block) {
			if b.container() || b.kind == kindCode || b.kind == kindMath || b.kind == kindHTML || b.kind == kindEmbed {
				return
			}
			var out strings.Builder
			for _, s := range spansOf(b.text) {
				switch label, stays := change(s.content); {
				case s.kind != "tag":
					out.WriteString(s.markdown)
				case stays:
					out.WriteString("#" + label + "#")
				default:
					out.WriteString(label)
				}
			}
			b.text = out.String()
		})
	}
}
