package history

import (
	"path"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/workspace"
)

// documentCopy is a copy of a document, described by its path.
type documentCopy struct {
	path    string
	created int64 // seconds since 1970
	op      string
	box     string
	doc     string // document id
	inBox   string // path in the notebook, /<id>/<id>.sy
}

const timeLayout = "2006-01-02-150405"

// parseCopy splits the path of a copy: /history/<time>-<op>/<notebook>/<path>.sy.
func parseCopy(p string) (documentCopy, bool) {
	steps := strings.SplitN(p, "/", 5)
	if path.Clean(p) != p || len(steps) != 5 || steps[0] != "" || steps[1] != "history" || len(steps[2]) < len(timeLayout)+2 {
		return documentCopy{}, false
	}
	at, err := time.ParseInLocation(timeLayout, steps[2][:len(timeLayout)], time.Local)
	id, isDoc := strings.CutSuffix(path.Base(p), ".sy")
	if err != nil || !isDoc {
		return documentCopy{}, false
	}
	return documentCopy{path: p, created: at.Unix(), op: steps[2][len(timeLayout)+1:], box: steps[3], doc: id, inBox: "/" + steps[4]}, true
}

// findCopy reads the copy of a document at a path; data is nil if there is none.
func findCopy(tx *workspace.Tx, p string) (c documentCopy, data []byte) {
	c, ok := parseCopy(p)
	if !ok {
		return c, nil
	}
	return c, tx.ReadFile(p)
}

// byID is the type of a search by document id. Other types search for text.
const byID = 3

// matchingCopies returns the copies that match a request, newest first.
func matchingCopies(tx *workspace.Tx, req api.Request) []documentCopy {
	query, op := req.OptStr("query"), req.OptStr("op")
	box := strings.ReplaceAll(req.OptStr("notebook"), "%", "")
	suffix, text := ".sy", strings.ToLower(query)
	if req.OptNum("type", 0) == byID {
		suffix, text = "/"+query+".sy", ""
	}
	var copies []documentCopy
	tx.Rows(func(row workspace.Row) bool {
		c, ok := parseCopy(row.Text(0))
		if ok && (op == "" || op == "all" || op == c.op) && (box == "" || box == c.box) {
			copies = append(copies, c)
		}
		return true
	}, `SELECT path FROM file WHERE path > '/history/' AND path < '/history0' AND substr(path, -length(?1)) = ?1
		ORDER BY path DESC`, suffix)
	if text == "" {
		return copies
	}
	var matching []documentCopy
	for _, c := range copies {
		if containsText(tx.ReadFile(c.path), text) {
			matching = append(matching, c)
		}
	}
	return matching
}

// containsText reports whether the title or text of a copy contains text, ignoring case. text must be in lower case.
func containsText(data []byte, text string) bool {
	if strings.Contains(strings.ToLower(titleOf(data)), text) {
		return true
	}
	root, err := markup.ParseSY(data)
	return err == nil && strings.Contains(strings.ToLower(markup.Export(root)), text)
}

// titleOf returns the title of a .sy file.
func titleOf(data []byte) string { return gjson.GetBytes(data, "Properties.title").Str }
