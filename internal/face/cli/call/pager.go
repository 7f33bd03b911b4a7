package call

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/tidwall/gjson"
	"golang.org/x/term"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file shows a long result page by page at a terminal.

// pager shows a result with several pages at a terminal. Keys turn the pages; each page is a call of its own.
type pager struct {
	commands
	screen  *os.File // stdin, which is the terminal
	args    json.RawMessage
	page    int64
	pages   int64
	partial error // exit code 6 if a page that was shown is incomplete, else nil
	call    func(ctx context.Context, args json.RawMessage) (tool.Result, error)
}

// newPager returns a pager if the result has more pages and a person is at the terminal.
func (p commands) newPager(b root.Backend, target *namedTarget, args json.RawMessage, data gjson.Result) (*pager, bool) {
	in, ok := p.In.(*os.File)
	pages := rawjson.Member(data, "pageCount").Int()
	takesPage := rawjson.Member(rawjson.Member(gjson.ParseBytes(target.schema), "properties"), "page").Exists()
	if !ok || pages < 2 || !takesPage || !output.IsTerminal(p.In) || !output.IsTerminal(p.Out) {
		return nil, false
	}
	g := &pager{
		commands: p, screen: in, args: args, page: rawjson.Member(data, "page").Int(), pages: pages, partial: incompleteError(data),
	}
	g.call = func(ctx context.Context, args json.RawMessage) (tool.Result, error) {
		return b.Call(ctx, tool.Request{
			Kind: tool.KindCall, Name: target.name, Args: args, Origin: tool.Direct, Principal: root.Principal(), Client: "collie call",
		})
	}
	return g, true
}

// run turns pages until the person leaves. The first page is already on the screen. If a page that was shown is incomplete,
// the error has the exit code that says so, as without a pager.
func (g *pager) run(ctx context.Context, v *resultView) error {
	for {
		step, err := g.key(ctx)
		if err != nil {
			return err
		}
		if step == 0 {
			return g.partial
		}
		page := g.page + int64(step)
		if page < 1 || page > g.pages {
			continue
		}
		r, err := g.call(ctx, withPage(g.args, page))
		if err != nil {
			return err
		}
		if r.IsError {
			return g.show(r)
		}
		data := Payload(r.Raw)
		if err := incompleteError(data); err != nil {
			g.partial = err
		}
		g.page, g.pages = page, rawjson.Member(data, "pageCount").Int()
		if _, err := fmt.Fprint(g.Out, g.Safe(g.Out, v.render(data))); err != nil {
			return err
		}
	}
}

// key waits for a key: 1 means next page, -1 previous page, 0 leave. It restores the state of the terminal.
func (g *pager) key(ctx context.Context) (step int, err error) {
	fd := int(g.screen.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return 0, err
	}
	line := locale.Sprintf("-- %d/%d: Enter next, p previous, q quit --", g.page, g.pages)
	fmt.Fprint(g.Err, line)
	defer func() {
		fmt.Fprint(g.Err, "\r\x1b[K")
		if rerr := term.Restore(fd, state); err == nil {
			err = rerr
		}
	}()
	keys := make(chan byte, 1)
	for {
		go func() { // reading from a terminal cannot be interrupted: this ends with a key or the process
			buf := make([]byte, 1)
			if n, err := g.screen.Read(buf); err != nil || n == 0 {
				buf[0] = 'q'
			}
			keys <- buf[0]
		}()
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case k := <-keys:
			switch k {
			case '\r', '\n', 'n', 'N', ' ':
				if g.page < g.pages {
					return 1, nil
				}
				return 0, nil // there is no page after the last
			case 'p', 'P':
				return -1, nil
			case 'q', 'Q', 0x1b, 0x03, 0x04: // Esc, Ctrl-C and Ctrl-D too
				return 0, nil
			}
		}
	}
}

// withPage returns args with a different page.
func withPage(args json.RawMessage, page int64) json.RawMessage {
	out := rawjson.Object{}
	rawjson.EachMember(args, func(name string, key, value json.RawMessage) {
		if name != "page" {
			out.Add(key, value)
		}
	})
	out.Add(json.RawMessage(`"page"`), json.RawMessage(strconv.FormatInt(page, 10)))
	return out.Bytes()
}
