package access

import (
	"maps"
	"slices"
	"time"
)

// Known says which actions there are and which are on by default: tool, action, on. Order does
// not matter.
type Known map[string]map[string]bool

// The formats of a tool config.
const (
	formatNested   = "nested"   // {"tag": {"enabled": true, "actions": {"list": true}}}
	formatCategory = "category" // {"tag": ["list"], "mascot": false}
	formatFlat     = "flat"     // {"get_tag": true}
)

// Config is the tool config of a workspace in its canonical form. It is immutable.
type Config struct {
	// On says what is on: tool, action. What is not there is off.
	On map[string]map[string]bool
	// ToolOn says which tools are on as a whole. A tool without an action that is on is off.
	ToolOn map[string]bool
	// UploadMB is file.uploadLargeFileThresholdMB, 1 to 1024, default 10.
	UploadMB int
	// UserRules, one rule a line; Memory is the agent's own text, MemoryAt when it was written.
	UserRules, Memory string
	MemoryAt          time.Time
	// Strict is writeSafety.strictMode as the file has it; nil where the file says nothing.
	Strict *bool
	// SoftErrors and Slim are errorReporting.softRecoverableErrors (false) and
	// debug.slimResponses (true).
	SoftErrors, Slim bool
	// ReadOnly is readOnlyTools: only actions that read are to be offered. It changes
	// neither On nor ToolOn.
	ReadOnly bool
	// Source is the file that this came from, empty for the defaults. Format is "nested",
	// "category" or "flat".
	Source, Format string
	// Findings are what in the file was not understood and has no effect, one line each.
	Findings []string
	// Stale says since when the files could not be read; zero means that this is current.
	// Unreadable says that there is no good copy either: all writes are off.
	Stale      time.Time
	Unreadable bool
	// Problem says why the files cannot be read; nil if they can.
	Problem error

	// old says that the file is of an older format, or has old names of actions.
	old bool
}

// Enabled reports whether an action is on, and its tool.
func (c *Config) Enabled(tool, action string) bool { return c.ToolOn[tool] && c.On[tool][action] }

// Old reports whether the file is of an older format or has old names of actions, so that
// [Switches.Migrate] would write it anew.
func (c *Config) Old() bool { return c.old }

// sameSwitches reports whether the same is offered.
func (c *Config) sameSwitches(d *Config) bool {
	return c.ReadOnly == d.ReadOnly && maps.Equal(c.ToolOn, d.ToolOn) &&
		maps.EqualFunc(c.On, d.On, func(a, b map[string]bool) bool { return maps.Equal(a, b) })
}

// defaults is the config of a workspace that has no file.
func (k Known) defaults() *Config {
	c := &Config{
		On: make(map[string]map[string]bool, len(k)), ToolOn: make(map[string]bool, len(k)),
		UploadMB: 10, Slim: true,
	}
	for tool, actions := range k {
		c.On[tool] = maps.Clone(actions)
		c.ToolOn[tool] = true
	}
	c.closeEmpty()
	return c
}

// closeEmpty turns off the tools that have no action that is on.
func (c *Config) closeEmpty() {
	for tool, actions := range c.On {
		if !slices.Contains(slices.Collect(maps.Values(actions)), true) {
			c.ToolOn[tool] = false
		}
	}
}
