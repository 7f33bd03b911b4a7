package call

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/arguments"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file lets people write the names of notebooks in calls, although the actions take only ids.

// isNodeID reports whether a text has the form of an id, 20210808180117-czj9bvb, which cannot be mistaken for
// a name.
func isNodeID(text string) bool {
	time, rest, dash := strings.Cut(text, "-")
	notDigit := func(r rune) bool { return r < '0' || r > '9' }
	return dash && len(time) == len("20210808180117") && len(rest) == len("czj9bvb") && !strings.ContainsFunc(time, notDigit)
}

// replaceNotebookNames replaces the names of notebooks in args by their ids. Only the command line does so; clients of MCP have
// to give ids, because names change and two notebooks may have the same.
func (p commands) replaceNotebookNames(ctx context.Context, b root.Backend, target *namedTarget, params []arguments.Parameter, args json.RawMessage) (json.RawMessage, error) {
	if !target.isOurs() {
		return args, nil
	}
	var known []notebook
	for i := range params {
		q := &params[i]
		value := rawjson.Member(gjson.ParseBytes(args), q.Name)
		name := value.String()
		if !isNotebook(q) || value.Type != gjson.String || name == "" || name == q.Default.String() || isNodeID(name) {
			continue
		}
		if known == nil {
			known = p.notebooks(ctx, b)
		}
		id, err := idOf(name, q.Flag, known)
		if err != nil {
			return nil, err
		}
		out := rawjson.Object{}
		rawjson.EachMember(args, func(member string, key, value json.RawMessage) {
			if member == q.Name {
				value = rawjson.Quote(id)
			}
			out.Add(key, value)
		})
		args = out.Bytes()
	}
	return args, nil
}

// idOf returns the id of the notebook with this name. If several have it, the error lists them.
func idOf(name, flag string, known []notebook) (string, error) {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "/"), "/")
	var ids, names []string
	for _, n := range known {
		if n.name == name {
			ids = append(ids, n.id)
		}
		names = append(names, n.name)
	}
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		e := &tool.Error{
			Op: "find", Kind: tool.NotFound, Subject: name, Message: fmt.Sprintf("there is no notebook %q", name),
			Hint: "collie notebook list shows the notebooks",
		}
		if near, ok := tool.Nearest(name, names); ok {
			e.Hint = "did you mean " + near + "?"
		}
		return "", e
	}
	return "", &tool.Error{
		Op: "find", Kind: tool.Ambiguous, Subject: name, Message: fmt.Sprintf("%d notebooks are called %q", len(ids), name),
		Hint: "say which one: --" + flag + " " + strings.Join(ids, ", or --"+flag+" "),
	}
}
