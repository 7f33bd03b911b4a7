package kerneltest

import (
	"regexp"
	"strings"
	"time"
)

// exportFamily answers the markdown of a document.
func exportFamily(k *Kernel) {
	k.handle("/api/export/exportMdContent", exportMdContent)
}

// exportMdContent answers the whole document a block lies in. References become their anchors.
func exportMdContent(k *Kernel, req request) reply {
	b := k.openBlock(req.needStr("id"))
	if b == nil {
		return ok(map[string]any{"content": "", "hPath": ""})
	}
	d := b.doc
	var out strings.Builder
	if req.optFlag("yfm", true) {
		out.WriteString("---\ntitle: " + d.title() + "\ndate: " + yamlTime(idTime(d.id())) + "\nlastmod: " + yamlTime(d.changed) + "\n")
		if tags := d.root.attrs["tags"]; tags != "" {
			out.WriteString("tags: [" + tags + "]\n")
		}
		out.WriteString("---\n\n")
	}
	if req.optFlag("addTitle", true) {
		out.WriteString("# " + d.title() + "\n\n")
	}
	out.WriteString(exportedRefs(exportOf(d.root)) + "\n")
	hpath := d.hpath()
	if d.hidden() {
		hpath = "/" + d.title()
	}
	return ok(map[string]any{"content": out.String(), "hPath": hpath})
}

var anyRef = regexp.MustCompile(`\(\(\d{14}-[0-9a-z]{7}\s+(?:'([^']*)'|"([^"]*)")\)\)`)

func exportedRefs(text string) string { return anyRef.ReplaceAllString(text, "$1$2") }

func yamlTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
