package kerneltest

import (
	"encoding/json"
	"path"
	"strings"
	"time"
)

// syFamily answers the indexing of .sy files that were written behind the kernel's back.
func syFamily(k *Kernel) {
	k.handle("/api/filetree/upsertIndexes", upsertIndexes)
	k.handle("/api/filetree/removeIndexes", removeIndexes)
}

// upsertIndexes takes .sy files into the tree. Paths begin with the notebook: /<notebook>/<document>.sy.
func upsertIndexes(k *Kernel, req request) reply {
	for _, p := range req.strs("paths") {
		f := k.files[path.Join("/data", p)]
		boxID, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
		box := k.openNotebook(boxID)
		if f == nil || f.dir || box == nil {
			continue
		}
		root := parseSY(f.data)
		if root == nil || k.documents[root.id] != nil {
			continue
		}
		d := &document{root: root, box: box, parent: k.documents[path.Base(path.Dir(p))], changed: time.Now()}
		if d.parent != nil && d.parent.hidden() {
			d.parent = nil
		}
		root.doc = d
		root.walk(func(b *block) { b.doc = d })
		k.adopt(d)
	}
	return done()
}

func removeIndexes(k *Kernel, req request) reply {
	for _, p := range req.strs("paths") {
		if d := k.documents[documentID(p)]; d != nil && !d.hidden() {
			k.drop(d)
		}
	}
	return done()
}

// parseSY reads a .sy file, nil when it is none.
func parseSY(data []byte) *block {
	var node syNode
	if json.Unmarshal(data, &node) != nil || node.Type != nodeTypes[kindDocument] {
		return nil
	}
	return node.block()
}

func (n syNode) block() *block {
	b := &block{id: n.ID, kind: kindsByNode[n.Type], attrs: n.Properties}
	if b.attrs == nil {
		b.attrs = map[string]string{}
	}
	b.attrs["id"] = b.id
	switch b.kind {
	case kindHeading:
		b.text = strings.Repeat("#", max(n.HeadingLevel, 1)) + " " + n.inline()
	case kindDatabase:
		b.text = `<div data-type="NodeAttributeView" data-av-id="` + n.AttributeViewID + `" data-av-type="table"></div>`
	case kindBreak:
		b.text = "---"
	case kindItem:
		b.marker = "-"
		if n.ListData["Typ"] == float64(1) {
			b.marker = "1."
		}
	case kindSuper:
		b.marker = "row"
	default:
		b.text = n.inline()
	}
	if b.container() {
		b.text = ""
		for _, child := range n.Children {
			if child.ID != "" {
				b.insertAt(len(b.children), child.block())
			}
		}
	}
	return b
}

// inline writes the inline nodes of a leaf as markdown.
func (n syNode) inline() string {
	var out strings.Builder
	for _, child := range n.Children {
		switch {
		case child.Type != "NodeTextMark":
			out.WriteString(child.Data)
		case child.MarkType == "inline-math":
			out.WriteString(writeSpan(child.MarkType, child.MarkMath, "", ""))
		case child.MarkType == "a":
			out.WriteString(writeSpan(child.MarkType, child.MarkText, child.MarkHref, ""))
		default:
			out.WriteString(writeSpan(child.MarkType, child.MarkText, child.MarkRefID, child.MarkRefSubtype))
		}
	}
	return zeroWidth.Replace(out.String())
}
