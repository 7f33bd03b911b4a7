// Package switches is the stage that refuses calls of what somebody has switched off. Who
// switches, and where that is written, is left to the sources, which say so in the Off
// fields of what they offer. The entry point is [New].
package switches

import (
	"context"
	"fmt"

	"collie/internal/tool"
)

// Options of a [Stage]. The zero value is useful.
type Options struct {
	// Hint says how to switch on the action of c, or its whole tool if whole is set, for
	// example with a command. Nil, or an empty answer: a general sentence.
	Hint func(c *tool.Call, whole bool) string
}

// Stage refuses a Call whose action, or whose tool, is switched off, with a [tool.Error] of
// kind Disabled. It passes what has no action: resources,
// prompts and completions. A Stage is safe for concurrent use.
type Stage struct {
	hint func(c *tool.Call, whole bool) string
}

var _ tool.Stage = (*Stage)(nil)

// New returns a Stage.
func New(opts Options) *Stage { return &Stage{hint: opts.Hint} }

// Do runs next unless what c calls is off. The tool counts before its action, since
// switching the action on would not help.
func (s *Stage) Do(ctx context.Context, c *tool.Call, next tool.Runner) (tool.Result, error) {
	if c.Action == nil {
		return next(ctx, c)
	}
	if why := toolOff(c); why != "" {
		return tool.Result{}, s.refusal(c, true, fmt.Sprintf("tool %q is switched off, and its action %q with it: %s", c.Tool, c.Action.Name, why))
	}
	if why := c.Action.Off; why != "" {
		return tool.Result{}, s.refusal(c, false, fmt.Sprintf("action %q of tool %q is switched off: %s", c.Action.Name, c.Tool, why))
	}
	return next(ctx, c)
}

// toolOff returns why c's tool is off, as its source says at this moment.
func toolOff(c *tool.Call) string {
	if c.Source == nil {
		return ""
	}
	tools := c.Source.Offer().Tools
	for i := range tools {
		if tools[i].Name == c.Tool {
			return tools[i].Off
		}
	}
	return ""
}

func (s *Stage) refusal(c *tool.Call, whole bool, message string) error {
	e := &tool.Error{Op: "call", Kind: tool.Disabled, Subject: c.Tool + "." + c.Action.Name, Message: message}
	if s.hint != nil {
		e.Hint = s.hint(c, whole)
	}
	if e.Hint == "" {
		what := fmt.Sprintf("action %q of tool %q", c.Action.Name, c.Tool)
		if whole {
			what = fmt.Sprintf("tool %q", c.Tool)
		}
		e.Hint = "only the person who runs this gateway can switch " + what + " on, in its configuration; do not repeat the call before that"
	}
	return e
}
