package chat_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"collie/internal/chat"
)

// pixel is a PNG picture of one pixel in Base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

type object = map[string]any

// exportedSession returns the exported JSON of a session. files maps the content of each file to its type.
func exportedSession(title string, files map[string]string, messages ...object) string {
	x := object{"format": "collie.session", "version": 1, "session": object{"title": title}, "messages": messages}
	list := []object{}
	for data, mime := range files {
		sum := sha256.Sum256([]byte(data))
		list = append(list, object{"sha256": hex.EncodeToString(sum[:]), "mime": mime, "name": "f", "size": len(data), "data": []byte(data)})
	}
	x["files"] = list
	raw, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func newMessage(id, parent, role string, parts ...object) object {
	return object{"id": id, "parentId": parent, "role": role, "status": "complete", "parts": parts}
}

func textPart(s string) object { return object{"type": "text", "text": s} }

// exportPage imports a session, returns it as an HTML page, and deletes it again.
func (p *testService) exportPage(document string, redact bool) string {
	p.t.Helper()
	c, err := p.Import(p.t.Context(), strings.NewReader(document), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := p.Export(p.t.Context(), c.ID, "html", redact)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.Delete(p.t.Context(), c.ID, false); err != nil {
		p.t.Fatal(err)
	}
	return string(out)
}

func TestExportAsPage(t *testing.T) {
	t.Parallel()
	png, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	svg := `<svg onload="alert(1)"/>`
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	file := func(data, mime string) object {
		return object{"sha256": sum(data), "mime": mime, "name": "图.png", "size": len(data)}
	}
	first := newMessage("u", "r", "user", textPart("哪种**茶**?"), object{"type": "file", "file": file(string(png), "image/png")}, object{"type": "file", "file": file(svg, "image/svg+xml")})
	first["selectedChildId"] = "a"
	answer := newMessage("a", "u", "assistant", object{"type": "reasoning", "text": "hm"},
		object{"type": "tool_call", "callId": "c", "name": "tea<1>", "args": `{"a":"<b>"}`},
		object{"type": "tool_result", "callId": "c", "name": "tea<1>", "text": "gr&en", "files": []object{file(string(png), "image/png")}}, textPart("绿茶"))
	answer["model"], answer["calls"] = "m<1>", []object{{"callId": "c", "name": "tea<1>", "state": "refused"}}
	document := exportedSession("茶 <i>", map[string]string{string(png): "image/png", svg: "image/svg+xml"}, first, answer, newMessage("b", "u", "assistant", textPart("oolong")), newMessage("v", "b", "user", textPart("why?")))
	p := openService(t, t.TempDir(), engineThatSays())
	page := p.exportPage(document, false)
	checkHarmless(t, page)
	for _, part := range []string{
		"<title>茶 &lt;i&gt;</title>", "<p>哪种<strong>茶</strong>?</p>", "<details><summary>Reasoning</summary>", "Assistant (m&lt;1&gt;)",
		"<details><summary>Call of <code>tea&lt;1&gt;</code>, <span class=\"bad\">refused</span></summary>\n<pre>{\n  &#34;a&#34;: &#34;&lt;b&gt;&#34;\n}</pre>\n<pre>gr&amp;en</pre>",
		"[图.png, image/svg+xml, 24 bytes]", "<p>绿茶</p>", "Branch 2 of 2", "oolong", "why?", ", branch 1 of 2",
		chat.PagePolicy[:20],
	} {
		if !strings.Contains(page, part) && !strings.Contains(page, html.EscapeString(part)) {
			t.Errorf("it does not have %q", part)
		}
	}
	if n := strings.Count(page, `<img alt="图.png" src="data:image/png;base64,`+pixel+`">`); n != 2 {
		t.Errorf("it has %d pictures", n)
	}
	if strings.Index(page, "oolong") > strings.Index(page, "绿茶") {
		t.Error("the branch does not stand where it begins")
	}
	page = p.exportPage(document, true)
	if checkHarmless(t, page); strings.Contains(page, "gr&amp;en") || strings.Contains(page, "&lt;b&gt;") || strings.Count(page, "<img") != 1 {
		t.Error("what was to be left out is there")
	}
	if t.Failed() {
		t.Log(page)
	}
}

// A result is shown once, also where it stands before its call.
func TestExportResultOnce(t *testing.T) {
	t.Parallel()
	call := object{"type": "tool_call", "callId": "c", "name": "tea", "args": `{}`}
	result := object{"type": "tool_result", "callId": "c", "name": "tea", "text": "green"}
	for _, parts := range [][]object{{call, result}, {result, call}, {result}} {
		document := exportedSession("tea", nil, newMessage("u", "r", "user", textPart("which?")), newMessage("a", "u", "assistant", parts...))
		page := openService(t, t.TempDir(), engineThatSays()).exportPage(document, false)
		if n := strings.Count(page, "green"); n != 1 {
			t.Errorf("%v: it is shown %d times", parts, n)
		}
	}
}

// All branches are shown however deep they are, but collapsed blocks are nested to a limit only.
func TestExportDeepAsPage(t *testing.T) {
	t.Parallel()
	messages := []object{newMessage("0", "r", "user", textPart("begin"))}
	for i := range 500 {
		at := fmt.Sprint(i)
		m := newMessage(fmt.Sprint(i+1), at, "user", textPart("branch "+at))
		messages = append(messages, m, newMessage("x"+at, at, "user", textPart("other "+at)))
	}
	page := openService(t, t.TempDir(), engineThatSays()).exportPage(exportedSession("deep", nil, messages...), false)
	checkHarmless(t, page)
	for i := range 500 {
		if strings.Count(page, fmt.Sprintf("<p>branch %d</p>", i)) != 1 || strings.Count(page, fmt.Sprintf("<p>other %d</p>", i)) != 1 {
			t.Fatalf("step %d is not there once", i)
		}
	}
	depth, most := 0, 0
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		if name, _ := z.TagName(); string(name) == "details" {
			depth += map[html.TokenType]int{html.StartTagToken: 1, html.EndTagToken: -1}[kind]
			most = max(most, depth)
		}
	}
	if most > 20 || depth != 0 {
		t.Errorf("it is %d deep and %d are left open", most, depth)
	}
}

// FuzzExportAsPage puts a text into every field of a session and checks that the page contains no active content.
func FuzzExportAsPage(f *testing.F) {
	for _, s := range []string{
		`</style><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `[x](javascript:alert(1)) ![y](https://e.org/t.gif)`, "</title></pre></summary>\x00", `' onclick='x`,
		`image/png;base64,x" onload="`, "</details></article><form>", "\u202etxt", "&lt;script&gt;", "中文<b>",
	} {
		f.Add(s)
	}
	p := openService(f, f.TempDir(), engineThatSays())
	f.Fuzz(func(t *testing.T, s string) {
		one := newMessage("u", "r", "user", textPart(s), object{"type": "steer", "text": s}, object{"type": "notice", "text": s}, object{"type": "file", "file": object{"name": s, "mime": s, "sha256": s}})
		two := newMessage(s+"a", "u", "assistant", object{"type": "reasoning", "text": s}, object{"type": "tool_call", "callId": s, "name": s, "args": s},
			object{"type": "tool_result", "callId": s, "name": s, "text": s}, object{"type": "tool_result", "callId": "other", "text": s}, object{"type": s, "text": s})
		two["provider"], two["model"], two["ownTools"], two["finishReason"], two["error"] = s, s, len(s)%2 == 0, s, object{"type": s, "message": s}
		two["calls"] = []object{{"callId": s, "name": s, "state": s}}
		c, err := p.Import(t.Context(), strings.NewReader(exportedSession(s, map[string]string{s: s}, one, two, newMessage("b", "u", "assistant", textPart(s)))), nil)
		if err != nil {
			t.Skip() // the text is not valid as a title or id
		}
		out, err := p.Export(t.Context(), c.ID, "html", len(s)%3 == 0)
		if err != nil {
			t.Fatal(err)
		}
		checkHarmless(t, string(out))
		if err := p.Delete(t.Context(), c.ID, false); err != nil {
			t.Fatal(err)
		}
	})
}

// checkHarmless fails the test if a page has elements or attributes that exported pages never need.
func checkHarmless(t *testing.T, page string) {
	t.Helper()
	elements := strings.Fields("html head meta title style body main section article h1 h2 h3 h4 h5 h6 small p div details summary pre code span img a blockquote ul ol li em strong del br hr table tr th td")
	once := map[string]int{}
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if once["html"] != 1 || once["style"] != 1 || once["title"] != 1 || once["body"] != 1 || once["meta"] != 5 {
				t.Fatalf("the page is not of one piece: %v\n%s", once, page)
			}
			return
		case html.CommentToken:
			t.Fatalf("there is a comment in\n%s", page)
		case html.StartTagToken, html.SelfClosingTagToken:
			tok := z.Token()
			once[tok.Data]++
			if !slices.Contains(elements, tok.Data) {
				t.Fatalf("there is <%s> in\n%s", tok.Data, page)
			}
			for _, a := range tok.Attr {
				if !isAllowed(tok.Data, a) {
					t.Fatalf("<%s> has %s=%q in\n%s", tok.Data, a.Key, a.Val, page)
				}
			}
		case html.DoctypeToken, html.EndTagToken, html.TextToken:
		}
	}
}

// isAllowed reports whether an element of an exported page, named by its tag, may have an attribute with that value.
func isAllowed(tag string, a html.Attribute) bool {
	low := strings.ToLower(a.Val)
	switch tag + "." + a.Key {
	case "meta.charset", "meta.http-equiv", "meta.content", "meta.name", "ol.start", "img.alt", "a.rel", "section.id":
		return true
	case "img.src":
		return strings.HasPrefix(low, "data:image/png;base64,") || strings.HasPrefix(low, "data:image/jpeg;base64,") ||
			strings.HasPrefix(low, "data:image/gif;base64,") || strings.HasPrefix(low, "data:image/webp;base64,")
	case "a.href":
		return strings.HasPrefix(low, "http://") || strings.HasPrefix(low, "https://") || strings.HasPrefix(low, "mailto:") || strings.HasPrefix(low, "#b")
	}
	return a.Key == "class" || a.Key == "dir"
}
