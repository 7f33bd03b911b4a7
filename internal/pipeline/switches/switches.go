// Package switches is the stage that refuses calls of tools and actions that are switched off. Sources
// decide what is off and set the Off fields of their offers.
package switches

import (
	"cmp"
	"context"
	"fmt"

	"collie/internal/tool"
)

// Check is the stage, a [tool.Check]. It refuses a Call whose tool or action is switched off, with a
// [tool.Error] of kind Disabled. The tool is checked first, since switching on the action alone would not
// help. An action without a name stands for any call of a tool whose actions are all off. Calls without an
// action (resources, prompts, completions) pass.
func Check(_ context.Context, c *tool.Call) (*tool.Call, error) {
	if c.Action == nil {
		return c, nil
	}
	toolIs := whyToolIsOff(c)
	if toolIs == "" && c.Action.Off == "" { // nearly every call: it costs no text
		return c, nil
	}
	why, subject := c.Action.Off, fmt.Sprintf("tool %q", c.Tool)
	switch {
	case c.Action.Name == "":
		why = cmp.Or(toolIs, why)
	case toolIs != "":
		message := fmt.Sprintf("tool %q is switched off, and its action %q with it: %s", c.Tool, c.Action.Name, toolIs)
		return c, refusalError(c, message, subject)
	case c.Action.Unsupported:
		return c, &tool.Error{
			Op: "call", Kind: tool.Disabled, Subject: c.Subject(),
			Message: fmt.Sprintf("action %q of %s cannot be called: %s", c.Action.Name, subject, why),
			Hint:    "it cannot be switched on here; use another tool, or a client that connects to the server directly",
		}
	default:
		subject = fmt.Sprintf("action %q of tool %q", c.Action.Name, c.Tool)
	}
	return c, refusalError(c, fmt.Sprintf("%s is switched off: %s", subject, why), subject)
}

// whyToolIsOff returns why c's tool is off, as its source says now; empty if it is on.
func whyToolIsOff(c *tool.Call) string {
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

func refusalError(c *tool.Call, message, subject string) error {
	return &tool.Error{
		Op: "call", Kind: tool.Disabled, Subject: c.Subject(), Message: message,
		Hint: "only the person who runs this gateway can switch " + subject + " on, in its configuration; do not repeat the call before that",
	}
}
