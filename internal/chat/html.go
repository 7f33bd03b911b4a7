package chat

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"collie/internal/chat/page"
	"collie/internal/llm"
)

// This file writes a session as one HTML page that runs no scripts and loads nothing.

// style is the look of an exported page. Its hash is in the page's Content-Security-Policy, so no other style
// applies.
const style = `:root{color-scheme:light dark;--line:#d0d7de;--soft:#f6f8fa;--faint:#57606a;--link:#0969da;--bad:#b42318}
@media (prefers-color-scheme:dark){:root{--line:#3d444d;--soft:#1c2128;--faint:#9198a1;--link:#58a6ff;--bad:#ff7b72}
body{background:#0d1117;color:#e6edf3}}
body{font:16px/1.55 system-ui,-apple-system,"Segoe UI","PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
h1{font-size:1.6rem}h2{font-size:1rem;margin:0 0 .4rem}h2 small,.note{color:var(--faint);font-weight:400}
article{border-top:1px solid var(--line);padding:1rem 0}
article.user{background:var(--soft);padding:1rem;border-radius:6px;border:0;margin:.5rem 0}
a{color:var(--link)}img{max-width:100%;display:block;margin:.5rem 0}
pre{white-space:pre-wrap;background:var(--soft);padding:.6rem;border-radius:6px;overflow:auto}
article.user pre{background:transparent;border:1px solid var(--line)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.875em}
table{border-collapse:collapse}th,td{border:1px solid var(--line);padding:.2rem .6rem}.right{text-align:right}.center{text-align:center}
blockquote{margin:.5rem 0;padding:0 1rem;border-left:3px solid var(--line);color:var(--faint)}
details{margin:.5rem 0}summary{cursor:pointer;color:var(--faint)}
details.branch{border-left:3px solid var(--line);padding-left:1rem}.bad{color:var(--bad)}
`

// PagePolicy is the content security policy of a page of [Service.Export]: it runs and loads nothing.
var PagePolicy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}()

// maxNested is how deep collapsed branches are nested. Deeper ones stand at the end of the page.
const maxNested = 20

// htmlPage writes a session as a page. The active path is visible; other branches are collapsed where they begin.
type htmlPage struct {
	bytes.Buffer
	children map[string][]*branchMessage
	selected map[string]string
	files    map[string]*fileWithData
	later    []*branchMessage // branches that are nested too deep and stand at the end of the page
	nested   int              // collapsed branches that are open around what is written
}

// html returns the whole session as an HTML page.
func (x *exported) html() []byte {
	w := &htmlPage{children: map[string][]*branchMessage{}, selected: map[string]string{}, files: map[string]*fileWithData{}}
	top := ""
	for i := range x.Tree {
		b := &x.Tree[i]
		if i == 0 {
			top = b.Parent
			w.selected[top] = x.First
		}
		w.children[b.Parent] = append(w.children[b.Parent], b)
		w.selected[b.ID] = b.Selected
	}
	for i := range x.Files {
		w.files[x.Files[i].SHA256] = &x.Files[i]
	}
	title := page.Text(x.Session.Title)
	if title == "" {
		title = "Untitled"
	}
	fmt.Fprintf(w, "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", page.Text(PagePolicy))
	w.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	fmt.Fprintf(w, "<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1 dir=\"auto\">%s</h1>\n", title, style, title)
	fmt.Fprintf(w, "<p class=\"note\">%s</p>\n", timeText(x.Session.Created))
	w.writeAfter(top)
	for len(w.later) > 0 {
		b := w.later[0]
		w.later = w.later[1:]
		fmt.Fprintf(w, "<section id=\"%s\">\n<h2>A branch from further up</h2>\n", anchor(b))
		w.writeFrom(b)
		w.WriteString("</section>\n")
	}
	w.WriteString("</main>\n</body>\n</html>\n")
	return w.Bytes()
}

func timeText(at time.Time) string { return at.Format("2006-01-02 15:04 MST") }

// anchor returns the id of a branch in the page.
func anchor(b *branchMessage) string {
	sum := sha256.Sum256([]byte(b.ID))
	return fmt.Sprintf("b%x", sum[:8])
}

// writeAfter writes what follows a message: the other branches, collapsed, and then the selected one, or the newest.
func (w *htmlPage) writeAfter(parent string) {
	for {
		all := w.children[parent]
		if len(all) == 0 {
			return
		}
		at := slices.IndexFunc(all, func(b *branchMessage) bool { return b.ID == w.selected[parent] })
		if at < 0 {
			at = len(all) - 1
		}
		for i, b := range all {
			if i != at {
				w.writeCollapsed(b, i, len(all))
			}
		}
		w.writeMessage(all[at], at, len(all))
		parent = all[at].ID
	}
}

// writeFrom writes a branch, beginning with b itself.
func (w *htmlPage) writeFrom(b *branchMessage) {
	w.writeMessage(b, 0, 1)
	w.writeAfter(b.ID)
}

// writeCollapsed writes a branch as a collapsed block or, if it is nested too deep, a link to it; the branch is then noted in
// later. It is branch i+1 of the given number.
func (w *htmlPage) writeCollapsed(b *branchMessage, i, of int) {
	if w.nested >= maxNested {
		w.later = append(w.later, b)
		fmt.Fprintf(w, "<p class=\"note\"><a href=\"#%s\">Branch %d of %d</a></p>\n", anchor(b), i+1, of)
		return
	}
	w.nested++
	fmt.Fprintf(w, "<details class=\"branch\"><summary>Branch %d of %d</summary>\n", i+1, of)
	w.writeFrom(b)
	w.WriteString("</details>\n")
	w.nested--
}

// writeMessage writes one message with its parts. It is branch i+1 of the given number.
func (w *htmlPage) writeMessage(m *branchMessage, i, of int) {
	who, class := "You", "user"
	if m.Role == RoleAssistant {
		who, class = author(&m.Message), "assistant"
	}
	fmt.Fprintf(w, "<article class=\"%s\">\n<h2>%s <small>%s", class, page.Text(who), timeText(m.Created))
	if of > 1 {
		fmt.Fprintf(w, ", branch %d of %d", i+1, of)
	}
	w.WriteString("</small></h2>\n")
	results, shown := map[string]*llm.Part{}, map[*llm.Part]bool{}
	for j := range m.Parts {
		if p := &m.Parts[j]; p.Kind == llm.PartToolResult {
			results[p.Call] = p
		}
	}
	for j := range m.Parts {
		w.writePart(m, &m.Parts[j], results, shown)
	}
	if m.Error != nil {
		fmt.Fprintf(w, "<p class=\"bad\">%s</p>\n", page.Text(m.Error.Message))
	}
	if m.Status != StatusComplete {
		fmt.Fprintf(w, "<p class=\"note\">%s</p>\n", page.Text(string(m.Status)))
	}
	w.WriteString("</article>\n")
}

// writePart writes a part; the result of a call stands with the call.
func (w *htmlPage) writePart(m *branchMessage, p *llm.Part, results map[string]*llm.Part, shown map[*llm.Part]bool) {
	switch p.Kind {
	case llm.PartText:
		fmt.Fprintf(w, "<div dir=\"auto\">%s</div>\n", page.Markdown(p.Text, 2))
	case partSteer: // what a person said while the answer was being written
		fmt.Fprintf(w, "<blockquote dir=\"auto\">%s</blockquote>\n", page.Markdown(p.Text, 2))
	case llm.PartNotice:
		fmt.Fprintf(w, "<p class=\"note\" dir=\"auto\">%s</p>\n", page.Text(p.Text))
	case llm.PartReasoning:
		fmt.Fprintf(w, "<details><summary>Reasoning</summary>\n<div dir=\"auto\">%s</div>\n</details>\n", page.Markdown(p.Text, 2))
	case llm.PartToolCall:
		result := results[p.Call]
		if shown[result] {
			result = nil
		}
		w.writeCall(m, p, result)
		shown[result] = true
	case llm.PartToolResult:
		if !shown[p] { // no call before it has this result
			shown[p] = true
			w.WriteString("<details><summary>Result</summary>\n")
			w.writeResult(p)
			w.WriteString("</details>\n")
		}
	case llm.PartFile:
		if p.File != nil {
			w.writeFile(p.File)
		}
	}
}

// writeCall writes a tool call, collapsed, with its result if that is not nil.
func (w *htmlPage) writeCall(m *branchMessage, p, result *llm.Part) {
	fmt.Fprintf(w, "<details><summary>Call of <code>%s</code>", page.Text(p.Name))
	if i := slices.IndexFunc(m.Calls, func(c Call) bool { return c.ID == p.Call }); i >= 0 && m.Calls[i].State != CallDone {
		fmt.Fprintf(w, ", <span class=\"bad\">%s</span>", page.Text(string(m.Calls[i].State)))
	}
	args := p.Args
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(args), "", "  ") == nil {
		args = indented.String()
	}
	fmt.Fprintf(w, "</summary>\n<pre>%s</pre>\n", page.Text(args))
	if result != nil {
		w.writeResult(result)
	}
	w.WriteString("</details>\n")
}

func (w *htmlPage) writeResult(p *llm.Part) {
	class := ""
	if p.IsError {
		class = ` class="bad"`
	}
	fmt.Fprintf(w, "<pre%s>%s</pre>\n", class, page.Text(p.Text))
	for i := range p.Files {
		w.writeFile(&p.Files[i])
	}
}

// writeFile shows a picture, and names any other file.
func (w *htmlPage) writeFile(f *llm.File) {
	label := page.Text(f.Name)
	if held := w.files[f.SHA256]; held != nil && isPicture(f.MIME) && http.DetectContentType(held.Data) == f.MIME {
		fmt.Fprintf(w, "<img alt=\"%s\" src=\"data:%s;base64,%s\">\n", label, f.MIME, base64.StdEncoding.EncodeToString(held.Data))
		return
	}
	fmt.Fprintf(w, "<p class=\"note\">[%s, %s, %d bytes]</p>\n", label, page.Text(f.MIME), f.Size)
}

// isPicture reports whether a file may be shown as a picture in a page. SVG may not, because it is a
// document that can hold scripts.
func isPicture(mime string) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mime)
}

// author returns who wrote an answer.
func author(m *Message) string {
	switch {
	case m.OwnTools:
		return "Assistant (" + m.Provider + ", which runs its own tools)"
	case m.Model != "":
		return "Assistant (" + m.Model + ")"
	}
	return "Assistant"
}
