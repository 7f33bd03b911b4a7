package call

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file prints the result of a call, as the server's JSON or in a readable form.

// show prints the result of a call: with --json the server's bytes, escaped at a terminal, otherwise a readable form. A failure goes
// to stderr and gives exit code 1.
func (p commands) show(r tool.Result) error {
	if err := p.save(r); err != nil {
		return err
	}
	if p.JSON {
		if err := p.WriteJSON(r.Raw); err != nil {
			return err
		}
		if r.IsError {
			return root.Exit(root.ExitFailed)
		}
		return nil
	}
	text := Readable(r.Raw)
	if r.IsError {
		if e := PayloadError(text); e != nil {
			return e
		}
		if text = strings.TrimSpace(text); text == "" {
			text = locale.T("the tool failed and did not say why")
		}
		fmt.Fprintf(p.Err, "%s %s\n", p.Painter(p.Err).Mark("✗"), p.Safe(p.Err, text))
		return root.Exit(root.ExitFailed)
	}
	_, err := fmt.Fprint(p.Out, p.Safe(p.Out, text))
	return err
}

// Readable returns the parts of a result's content, each ending with a line break. The structured content is
// added unless the texts say the same.
func Readable(result json.RawMessage) string {
	var b strings.Builder
	root := gjson.ParseBytes(result)
	var texts []string
	for _, part := range rawjson.List(rawjson.Member(root, "content")) {
		text := describePart(part)
		if rawjson.Member(part, "type").String() == "text" {
			texts = append(texts, text)
		}
		b.WriteString(text)
		if !strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
	}
	if structured := rawjson.Member(root, "structuredContent"); structured.Exists() && !repeatsTexts(structured, texts) {
		var indented bytes.Buffer
		if json.Indent(&indented, []byte(structured.Raw), "", "  ") == nil {
			b.Write(indented.Bytes())
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// repeatsTexts reports whether structured content says the same as texts: as JSON, or in its only member. Many
// servers put their text there, or a list with one item per text.
func repeatsTexts(structured gjson.Result, texts []string) bool {
	if isIn(structured, texts) {
		return true
	}
	var members []gjson.Result
	structured.ForEach(func(_, v gjson.Result) bool {
		members = append(members, v)
		return len(members) < 2
	})
	return structured.IsObject() && len(members) == 1 && isIn(members[0], texts)
}

// isIn reports whether v is one of texts, all of them joined, or a list with one item per text.
func isIn(v gjson.Result, texts []string) bool {
	items := rawjson.List(v)
	if len(items) > 1 && len(items) == len(texts) {
		for i := range items {
			if !isIn(items[i], texts[i:i+1]) {
				return false
			}
		}
		return true
	}
	if v.Type == gjson.String && len(texts) > 0 && strings.TrimSpace(v.String()) == strings.TrimSpace(strings.Join(texts, "\n")) {
		return true
	}
	return slices.ContainsFunc(texts, func(text string) bool { return rawjson.Same(text, v.Raw) })
}

// describePart returns one part of a result: its text, or a line in brackets that says what it is.
func describePart(part gjson.Result) string {
	str := func(name string) string { return rawjson.Member(part, name).String() }
	switch kind := str("type"); kind {
	case "text":
		return str("text")
	case "image", "audio":
		return bracketed(kind, str("mimeType"), output.DecimalSize(decodedSize(str("data"))))
	case "resource_link":
		n := ""
		if s := rawjson.Member(part, "size"); s.Type == gjson.Number {
			n = output.DecimalSize(int(s.Int()))
		}
		return bracketed("link", str("uri"), str("mimeType"), n)
	case "resource":
		r := rawjson.Member(part, "resource")
		n := len(rawjson.Member(r, "text").String())
		if blob := rawjson.Member(r, "blob"); blob.Exists() {
			n = decodedSize(blob.String())
		}
		return bracketed("resource", rawjson.Member(r, "uri").String(), rawjson.Member(r, "mimeType").String(), output.DecimalSize(n))
	}
	return part.Raw // an unknown kind of content
}

// bracketed returns a line such as "[image image/png, 34 KB]".
func bracketed(kind string, facts ...string) string {
	var known []string
	for _, f := range facts {
		if f != "" {
			known = append(known, f)
		}
	}
	return "[" + strings.TrimSpace(kind+" "+strings.Join(known, ", ")) + "]"
}

// decodedSize returns the number of bytes that a Base64 text decodes to.
func decodedSize(text string) int { return len(strings.TrimRight(text, "=")) * 3 / 4 }

// PayloadError returns the error that a result's text holds in the form of [tool.Error.Payload], nil if it holds none.
func PayloadError(text string) *tool.Error {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, `{"error":{"type":`) {
		return nil
	}
	e, ok := remote.RefusalError(0, []byte(text)).(*tool.Error) //nolint:errorlint // it is made here
	if !ok || e.Kind == tool.Internal && e.Subject == "" {
		return nil
	}
	return e
}
