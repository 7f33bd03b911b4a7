// Package validate is the stage that checks the arguments of a call against the input schema of its action. A
// refusal says which argument is wrong, what was expected, what was given and which name was probably meant.
// A library implements the keywords of JSON Schema; actions check which arguments make sense together.
// Arguments are never modified. The entry point is [New].
//
// Neither schemas nor arguments can be trusted. A schema never makes Collie load anything over the network or
// from disk. A schema that does not compile is not applied, which is logged once. The cost of checking is
// bounded, so that no schema can keep a processor busy for long.
package validate

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"

	"collie/internal/tool"
)

// Options of a [Stage]. The zero value is ready to use.
type Options struct {
	// Logger is told of schemas that are not applied. Nil discards.
	Logger *slog.Logger
}

// Stage refuses Calls of kind call whose arguments do not match the schema, with a [tool.Error] of kind
// Invalid. For actions that are not strict it is lenient: null counts as omitting an optional field, and a
// string may hold the required value. A schema's dialect is that of its $schema, else draft 2020-12. Formats
// are asserted only for strict actions. A pattern that Go's regular expressions cannot express is not
// applied, but the rest of its schema is. A Stage is safe for concurrent use.
type Stage struct {
	log     *slog.Logger
	schemas cache
}

// New returns a Stage.
func New(opts Options) *Stage {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Stage{log: opts.Logger}
}

// Check is a [tool.Check]: it lets c pass if its arguments match. Missing and null arguments count as {}.
func (s *Stage) Check(ctx context.Context, c *tool.Call) (*tool.Call, error) {
	if c.Kind == tool.KindCall && c.Action != nil && !c.Action.Unchecked {
		if ps := s.check(ctx, c); len(ps) > 0 {
			return c, refusalError(c, ps)
		}
	}
	return c, nil
}

func (s *Stage) check(ctx context.Context, c *tool.Call) []problem {
	f := s.schemas.get(c.Action)
	f.once.Do(func() {
		if err := f.compile(c.Action.InputSchema); err != nil {
			s.log.LogAttrs(ctx, slog.LevelWarn, "input schema is not applied",
				slog.String("tool", c.Tool), slog.String("action", c.Action.Name), slog.Any("error", err))
		}
	})
	args := bytes.TrimSpace(c.Args)
	if len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	// If Params is set, the wire layer has already parsed these bytes as JSON.
	if f.acceptsAll && args[0] == '{' && (c.Params != nil || json.Valid(args)) {
		return nil
	}
	if f.flat != nil && c.Params != nil && args[0] == '{' && f.flat.accepts(args) {
		return nil
	}
	var doc any
	values, ok := 0, false
	if c.Params != nil {
		doc, values, ok = quickDecode(args)
	}
	if !ok {
		var err error
		if doc, values, err = decode(args, false); err != nil {
			return []problem{unreadableProblem(err)}
		}
	}
	obj, ok := doc.(map[string]any)
	if !ok {
		return []problem{{text: "the arguments must be a JSON object, got " + describeValue(doc, false), whole: true}}
	}
	return f.problems(obj, values)
}
