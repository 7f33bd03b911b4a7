// Package switches is the stage that refuses calls of what somebody has switched off. Who
// switches, and where that is written, is left to the sources, which say so in the Off
// fields of what they offer.
package switches

import (
	"context"
	"fmt"

	"collie/internal/tool"
)

// Check is the stage, a [tool.Check]. It refuses a Call whose action, or whose tool, is switched off,
// with a [tool.Error] of kind Disabled. The tool counts before its action, since switching the action
// on would not help. What has no action passes: resources, prompts and completions.
func Check(_ context.Context, c *tool.Call) (*tool.Call, error) {
	if c.Action == nil {
		return c, nil
	}
	if why := toolOff(c); why != "" {
		message := fmt.Sprintf("tool %q is switched off, and its action %q with it: %s", c.Tool, c.Action.Name, why)
		return c, refusal(c, message, fmt.Sprintf("tool %q", c.Tool))
	}
	if why := c.Action.Off; why != "" {
		what := fmt.Sprintf("action %q of tool %q", c.Action.Name, c.Tool)
		return c, refusal(c, what+" is switched off: "+why, what)
	}
	return c, nil
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

func refusal(c *tool.Call, message, what string) error {
	return &tool.Error{
		Op: "call", Kind: tool.Disabled, Subject: c.Subject(), Message: message,
		Hint: "only the person who runs this gateway can switch " + what + " on, in its configuration; do not repeat the call before that",
	}
}
