package web

import (
	"fmt"
	"net/http"
	"unicode/utf8"

	"collie/internal/tool"
)

// translateRoutes returns the route with which pages show what the gateway says in the language of the person. The
// texts were made, and often stored, before it is known who reads them, so the page asks for those it shows.
func translateRoutes() []Route {
	return []Route{
		{"POST /api/v1/translations", ClassManage, (*api).translate, about{
			summary: "English texts of the gateway, such as errors and notices, in another language; those it does not know stay as they are", in: untranslated{}, out: translated{}, framed: true,
		}},
	}
}

type untranslated struct {
	Language string   `json:"language"` // zh
	Texts    []string `json:"texts"`
}

type translated struct {
	Texts []string `json:"texts"` // in the order of the request
}

// A request with more texts is refused; a longer text stays as it is.
const (
	maxTexts     = 500
	maxTextBytes = 8 << 10
)

func (a *api) translate(w http.ResponseWriter, r *http.Request) error {
	var body untranslated
	if err := decodeBody(r, &body, `{"language":"zh","texts":[…]}`); err != nil {
		return err
	}
	if len(body.Texts) > maxTexts {
		return &tool.Error{
			Op: "translate", Kind: tool.Invalid, Subject: "texts", Message: fmt.Sprintf("there are %d, the limit is %d", len(body.Texts), maxTexts), Hint: "ask for them in several requests",
		}
	}
	out := translated{Texts: body.Texts}
	for i, text := range out.Texts {
		if len(text) <= maxTextBytes && utf8.ValidString(text) && a.opts.Translate != nil {
			out.Texts[i] = a.opts.Translate(body.Language, text)
		}
	}
	return answer(w, out)
}
