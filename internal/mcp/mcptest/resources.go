package mcptest

import (
	"context"
	"strconv"
	"strings"
)

// The resources, by the part of their URI after the scheme. Hidden is not listed but can be read, as can
// every URI that matches the template item/{id}.
const (
	helloPath  = "://static/hello"
	blobPath   = "://static/blob"
	hiddenPath = "://hidden"
	extraPath  = "://extra"
	itemPath   = "://item/"
)

func (s *server) listResources(_ context.Context, c *call) {
	scheme := s.opts.scheme
	entries := []string{
		`{"uri":"` + scheme + helloPath + `","name":"hello","title":"Hello","mimeType":"text/plain","x-vendor":{"n":12345678901234567890}}`,
		`{"uri":"` + scheme + blobPath + `","name":"blob","description":"Four bytes.","mimeType":"application/octet-stream","size":4}`,
	}
	if s.hasExtra("resources") {
		entries = append(entries, `{"uri":"`+scheme+extraPath+`","name":"extra"}`)
	}
	s.answerPage(c, "resources", entries)
}

func (s *server) listTemplates(_ context.Context, c *call) {
	s.answerPage(c, "resourceTemplates", []string{
		`{"uriTemplate":"` + s.opts.scheme + itemPath + `{id}","name":"item","mimeType":"text/plain"}`,
	})
}

func (s *server) readResource(_ context.Context, c *call) {
	path, ok := strings.CutPrefix(c.uri.Str, s.opts.scheme)
	var text string
	switch id, item := strings.CutPrefix(path, itemPath); {
	case !ok:
		s.refuseResource(c)
		return
	case path == blobPath:
		s.answerContents(c, `"mimeType":"application/octet-stream","blob":"AP8AfQ=="`)
		return
	case path == helloPath:
		text = "Hello."
	case path == hiddenPath:
		text = "Not listed."
	case path == extraPath && s.hasExtra("resources"):
		text = "Extra."
	case item && id != "":
		text = "Item " + id + "."
	default:
		s.refuseResource(c)
		return
	}
	if n := s.revision(c.uri.Str); n > 0 {
		text += " Revision " + strconv.Itoa(n) + "."
	}
	s.answerContents(c, `"mimeType":"text/plain","text":`+quote(text))
}

func (s *server) answerContents(c *call, fields string) {
	c.answer(c.resultStart() + `"contents":[{"uri":` + c.uri.Raw + `,` + fields + `}]` + s.cachingMembers(c) + `}`)
}

// refuseResource answers for an unknown URI. The modern era has no specific code for that.
func (s *server) refuseResource(c *call) {
	code := codeResourceNotFound
	if c.modern {
		code = codeInvalidParams
	}
	c.refuse(code, "Resource not found", `{"uri":`+quote(c.uri.Str)+`}`)
}
