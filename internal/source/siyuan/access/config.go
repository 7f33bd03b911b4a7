package access

import (
	"maps"
	"slices"
	"time"
)

// Known says which actions exist and which are on by default, as tool → action → on.
type Known map[string]map[string]bool

// The formats of a tool config.
const (
	formatNested   = "nested"   // {"tag": {"enabled": true, "actions": {"list": true}}}
	formatCategory = "category" // {"tag": ["list"], "mascot": false}
	formatFlat     = "flat"     // {"get_tag": true}
)

// Config is the tool config of a workspace in its canonical form. It is immutable.
type Config struct {
	// On has the actions that are on, by tool and action. A missing action is off.
	On map[string]map[string]bool
	// ToolOn has the tools that are on as a whole. A tool whose actions are all off is off.
	ToolOn map[string]bool
	// UploadMB is file.uploadLargeFileThresholdMB, 1 to 1024, default 10.
	UploadMB int
	// UserRules are the user's rules, one a line. Memory is the agent's own text, MemoryAt when it was written.
	UserRules, Memory string
	MemoryAt          time.Time
	// Strict is writeSafety.strictMode; nil if the file does not set it.
	Strict *bool
	// SoftErrors is errorReporting.softRecoverableErrors (default false), Slim is debug.slimResponses (default true).
	SoftErrors, Slim bool
	// ReadOnly is readOnlyTools: only actions that read are offered. On and ToolOn do not reflect it.
	ReadOnly bool
	// Source is the file that was read, empty for the defaults. Format is "nested", "category" or "flat".
	Source, Format string
	// Findings are the parts of the file that were not understood and have no effect, one line each.
	Findings []string
	// Stale is the time since which the files could not be read; zero means that this config is current. Unreadable
	// means that there is no earlier copy either, or only one that is too old to rely on, so all writes are off.
	Stale      time.Time
	Unreadable bool
	// Problem is the error of reading the files; nil if they could be read.
	Problem error

	// old says that the file has an older format or old names of actions.
	old bool
}

// Enabled reports whether an action and its tool are on.
func (c *Config) Enabled(tool, action string) bool { return c.ToolOn[tool] && c.On[tool][action] }

// Old reports whether the file has an older format or old names of actions, which [Switches.Migrate] would convert.
func (c *Config) Old() bool { return c.old }

// sameSwitches reports whether both configs offer the same actions.
func (c *Config) sameSwitches(d *Config) bool {
	return c.ReadOnly == d.ReadOnly && maps.Equal(c.ToolOn, d.ToolOn) &&
		maps.EqualFunc(c.On, d.On, func(a, b map[string]bool) bool { return maps.Equal(a, b) })
}

// defaults returns the config of a workspace without a file.
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

// closeEmpty turns off tools whose actions are all off.
func (c *Config) closeEmpty() {
	for tool, actions := range c.On {
		if !slices.Contains(slices.Collect(maps.Values(actions)), true) {
			c.ToolOn[tool] = false
		}
	}
}
