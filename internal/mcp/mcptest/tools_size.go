package mcptest

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// oddSize is the default size of odd results in bytes.
const oddSize = 2000

// sizeTools answer correctly, with results that are big, deep or odd.
func sizeTools() map[string]builtin {
	return map[string]builtin{
		"big": {
			about:      "Returns a text of so many bytes, a's, after ms.",
			properties: bytesProperty + "," + msProperty,
			blocks:     true,
			run: func(ctx context.Context, s *server, c *call, args gjson.Result) {
				if !pause(ctx, milliseconds(args, 0)) {
					return
				}
				c.answerParts([]byte(c.resultStart()+`"content":[{"type":"text","text":"`),
					s.filler.letters(numberArgument(args, "bytes", 1<<20)), []byte(`"}]}`))
			},
		},
		"deep": {
			about:      "Returns structured content that is nested so deep.",
			properties: `"depth":{"type":"integer","minimum":1}`,
			run: func(_ context.Context, _ *server, c *call, args gjson.Result) {
				n := max(numberArgument(args, "depth", 100), 1)
				c.answer(c.resultStart() + `"content":[{"type":"text","text":"` + strconv.Itoa(n) + ` deep"}],"structuredContent":{"deep":` +
					strings.Repeat("[", n) + strings.Repeat("]", n) + `}}`)
			},
		},
		"odd": {
			about:      "Returns OddResult(seed, size) byte for byte.",
			properties: `"seed":{"type":"integer"},"size":{"type":"integer","minimum":0}`,
			run: func(_ context.Context, s *server, c *call, args gjson.Result) {
				seed := s.opts.seed
				if v := args.Get("seed"); v.Exists() {
					seed = v.Int()
				}
				c.answerParts(OddResult(seed, numberArgument(args, "size", oddSize)))
			},
		},
		"toolarge": {
			about:      "Answers with one frame of so many bytes; idLast puts the id at its end.",
			properties: bytesProperty + `,"idLast":{"type":"boolean"}`,
			run:        tooLarge,
		},
	}
}

func tooLarge(_ context.Context, s *server, c *call, args gjson.Result) {
	head := `{"jsonrpc":"2.0","id":` + c.id + `,"result":` + c.resultStart() + `"content":[{"type":"text","text":"`
	tail := `"}]}}`
	if args.Get("idLast").Bool() {
		head = `{"jsonrpc":"2.0","result":` + c.resultStart() + `"content":[{"type":"text","text":"`
		tail = `"}]},"id":` + c.id + `}`
	}
	n := max(numberArgument(args, "bytes", 1<<20)-len(head)-len(tail), 0)
	c.reply(0, []byte(head), s.filler.letters(n), []byte(tail))
}

// filler returns slices of one long text, so that big answers need no generation.
type filler struct {
	mu   sync.Mutex
	text []byte
}

// letters returns n letters, which the caller must not change.
func (f *filler) letters(n int) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n = max(n, 0); len(f.text) < n {
		f.text = bytes.Repeat([]byte("a"), n)
	}
	return f.text[:n]
}
