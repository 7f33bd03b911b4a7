package markup

import (
	"fmt"
	"sync"

	"github.com/88250/lute"
	"github.com/88250/lute/parse"
)

// luteEngine is lute with the settings of SiYuan's kernel. One engine is shared, since making one costs more than
// parsing a paragraph. Nothing changes it after that, so it is safe for concurrent use.
var luteEngine = sync.OnceValue(newEngine)

func newEngine() *lute.Lute {
	e := lute.New()
	e.SetProtyleWYSIWYG(true)
	e.SetTextMark(true)
	e.SetHTMLTag2TextMark(true)
	e.SetKramdownIAL(true)
	e.SetBlockRef(true)
	e.SetFileAnnotationRef(true)
	e.SetTag(true)
	e.SetMark(true)
	e.SetSup(false)
	e.SetSuperBlock(true)
	e.SetCallout(true)
	e.SetDataTask(true)
	e.SetArbitraryTaskListItemMarker(true)
	e.SetEnsureListItemParagraph(true)
	e.SetImgPathAllowSpace(true)
	e.SetInlineMathAllowDigitAfterOpenMarker(true)
	e.SetParagraphBeginningSpace(true)
	for _, off := range []func(bool){
		e.SetEmoji,
		e.SetFootnotes, e.SetToC, e.SetIndentCodeBlock, e.SetYamlFrontMatter, e.SetSetext, e.SetLinkRef, e.SetHeadingID,
		e.SetGFMAutoLink, e.SetGFMStrikethrough1, e.SetGitConflict, e.SetAutoSpace, e.SetFixTermTypo, e.SetSpellcheck,
		e.SetSanitize,
	} {
		off(false)
	}
	return e
}

// catchPanic calls f and turns a panic of lute into an error.
func catchPanic(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("lute: %v", p)
		}
	}()
	f()
	return nil
}

// parseTree parses Markdown with lute; nil if lute panics.
func parseTree(markdown string) *parse.Tree {
	var t *parse.Tree
	if catchPanic(func() { t = parse.Parse("", []byte(markdown), luteEngine().ParseOptions) }) != nil {
		return nil
	}
	unwrapDocuments(t.Root)
	return t
}
