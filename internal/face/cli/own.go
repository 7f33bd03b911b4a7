package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
)

// showOwn prints the result of an action of our own tools (siyuan-tools.md 10.3): with --json its
// payload on one line, else what a person reads of it, page by page at a terminal. A result that
// is a part of what was wanted has an exit code of its own.
func (p *program) showOwn(ctx context.Context, b backend, target *found, args json.RawMessage, r tool.Result) error {
	data := payload(r.Raw)
	switch {
	case r.IsError:
		if e := payloadError(data.Raw); e != nil {
			return e
		}
		return p.show(r)
	case !data.Exists():
		return p.show(r)
	case p.json:
		var line bytes.Buffer
		if json.Compact(&line, []byte(data.Raw)) != nil {
			return p.show(r)
		}
		if _, err := fmt.Fprintln(p.out, line.String()); err != nil {
			return err
		}
		return incomplete(data)
	}
	v := newOwnView(p, target, args)
	if _, err := fmt.Fprint(p.out, p.safe(p.out, v.render(data))); err != nil {
		return err
	}
	if g, ok := p.pager(b, target, args, data); ok {
		return g.run(ctx, v)
	}
	return incomplete(data)
}

// payload is what an action of ours returned: the JSON that the result's text is.
func payload(result json.RawMessage) gjson.Result {
	root := gjson.ParseBytes(result)
	if parts := list(member(root, "content")); len(parts) == 1 {
		if text := member(parts[0], "text").String(); gjson.Valid(text) {
			return gjson.Parse(text)
		}
	}
	return member(root, "structuredContent")
}

// incomplete is the exit of a result that lacks something because it could not be had. What is
// kept from the caller by the levels of notebooks is not missing.
func incomplete(data gjson.Result) error {
	if !member(data, "partial").Bool() || member(data, "reason").String() == filtered && !failures(data) {
		return nil
	}
	return exit(exitPartial)
}

// filtered is the reason of a result without what may not be read (0.4, PF).
const filtered = "permission_filtered"

func failures(data gjson.Result) bool {
	return len(list(member(data, "errors"))) > 0 || member(data, "failed").Int() > 0 || member(data, "failedDocs").Int() > 0
}
