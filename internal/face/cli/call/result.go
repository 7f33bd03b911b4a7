package call

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file prints results of our own tools, and finds out whether they are complete.

// showResult prints the result of an action of our own tools: with --json the payload on one line, otherwise a
// readable form, page by page at a terminal. An incomplete result has its own exit code.
func (p commands) showResult(ctx context.Context, b root.Backend, target *namedTarget, args json.RawMessage, r tool.Result) error {
	data := Payload(r.Raw)
	switch {
	case r.IsError:
		if e := PayloadError(data.Raw); e != nil {
			return e
		}
		return p.show(r)
	case !data.Exists():
		return p.show(r)
	case p.JSON:
		var line bytes.Buffer
		if json.Compact(&line, []byte(data.Raw)) != nil {
			return p.show(r)
		}
		if _, err := fmt.Fprintln(p.Out, line.String()); err != nil {
			return err
		}
		return incompleteError(data)
	}
	v := newResultView(p, target, args)
	if _, err := fmt.Fprint(p.Out, p.Safe(p.Out, v.render(data))); err != nil {
		return err
	}
	if g, ok := p.newPager(b, target, args, data); ok {
		return g.run(ctx, v)
	}
	return incompleteError(data)
}

// Payload returns the JSON that a result of our own actions has as its only text, or else its structured content.
func Payload(result json.RawMessage) gjson.Result {
	root := gjson.ParseBytes(result)
	if parts := rawjson.List(rawjson.Member(root, "content")); len(parts) == 1 {
		if text := rawjson.Member(parts[0], "text").String(); gjson.Valid(text) {
			return gjson.Parse(text)
		}
	}
	return rawjson.Member(root, "structuredContent")
}

// incompleteError returns exit code 6 for a result that is partial because something failed or could not be read, else
// nil. What the levels of notebooks hide does not count as missing.
func incompleteError(data gjson.Result) error {
	if !rawjson.Member(data, "partial").Bool() || rawjson.Member(data, "reason").String() == filteredReason && !hasFailures(data) {
		return nil
	}
	return root.Exit(root.ExitPartial)
}

// filteredReason is the reason in a result from which unreadable notes were left out.
const filteredReason = "permission_filtered"

// hasFailures reports whether a result names errors or counts failed parts.
func hasFailures(data gjson.Result) bool {
	return len(rawjson.List(rawjson.Member(data, "errors"))) > 0 || rawjson.Member(data, "failed").Int() > 0 || rawjson.Member(data, "failedDocs").Int() > 0
}
