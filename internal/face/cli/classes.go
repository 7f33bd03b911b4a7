package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/sorting"
)

// This file lists all commands and how each relates to the pipeline, so that a test can show that no command calls a
// tool around it.

// Class says how a command relates to the pipeline, for the test that all calls go through it.
type Class string

// The classes of commands.
const (
	ClassCall   Class = "call"   // makes calls through the pipeline
	ClassRead   Class = "read"   // reads state and runs nothing
	ClassManage Class = "manage" // starts, stops or changes something
)

// classes maps the paths of all commands to their classes. The test in test/pipeline fails for a command that is
// missing here.
var classes = map[string]Class{
	"call":              ClassCall,
	"agent":             ClassRead,
	"agent run":         ClassCall,
	"agent list":        ClassRead,
	"agent show":        ClassRead,
	"agent new":         ClassManage,
	"agent import":      ClassManage,
	"audit prune":       ClassManage,
	"chat":              ClassCall,
	"sessions":          ClassRead,
	"sessions list":     ClassRead,
	"sessions show":     ClassRead,
	"sessions search":   ClassRead,
	"sessions export":   ClassRead,
	"sessions import":   ClassManage,
	"sessions fork":     ClassManage,
	"sessions delete":   ClassManage,
	"usage":             ClassRead,
	"grants":            ClassRead,
	"grants list":       ClassRead,
	"grants revoke":     ClassManage,
	"guard":             ClassRead,
	"guard log":         ClassRead,
	"guard notify":      ClassRead, // it tells the person who runs it, and nobody else
	"guard show":        ClassRead,
	"guard test":        ClassRead, // it judges a call and makes none
	"store":             ClassRead,
	"store check":       ClassRead,
	"store backup":      ClassManage,
	"serve":             ClassManage,
	"stdio":             ClassManage,
	"open":              ClassManage,
	"connect":           ClassManage,
	"config set":        ClassManage,
	"config unset":      ClassManage,
	"cache":             ClassRead,
	"cache show":        ClassRead,
	"cache stats":       ClassRead,
	"cache verify":      ClassRead,
	"cache path":        ClassRead,
	"cache schema":      ClassRead,
	"cache warm":        ClassManage,
	"cache refresh":     ClassManage,
	"cache clear":       ClassManage,
	"cache prune":       ClassManage,
	"cache import":      ClassManage,
	"cache migrate":     ClassManage,
	"mcp doctor":        ClassManage,
	"mcp restart":       ClassManage,
	"mcp refresh":       ClassManage,
	"mcp approve":       ClassManage,
	"mcp add":           ClassManage,
	"mcp search":        ClassRead,
	"mcp import":        ClassManage,
	"mcp export":        ClassManage,
	"mcp remove":        ClassManage,
	"mcp rename":        ClassManage,
	"mcp enable":        ClassManage,
	"mcp disable":       ClassManage,
	"mcp trust":         ClassManage,
	"mcp auth":          ClassManage,
	"mcp logout":        ClassManage,
	"confirm":           ClassManage,
	"provider":          ClassRead,
	"provider add":      ClassManage,
	"provider list":     ClassRead,
	"provider test":     ClassManage, // a key that passes the test is used again
	"provider remove":   ClassManage,
	"provider import":   ClassManage,
	"keys":              ClassRead,
	"keys list":         ClassRead,
	"keys add":          ClassManage,
	"keys set":          ClassManage,
	"keys enable":       ClassManage,
	"keys disable":      ClassManage,
	"keys remove":       ClassManage,
	"keys test":         ClassManage,
	"keys reset":        ClassManage,
	"secret set":        ClassManage,
	"secret remove":     ClassManage,
	"token":             ClassRead,
	"token add":         ClassManage,
	"token list":        ClassRead,
	"token revoke":      ClassManage,
	"token rotate":      ClassManage,
	"service install":   ClassManage,
	"service uninstall": ClassManage,
	"service restart":   ClassManage,
	"audit":             ClassRead, // a group of commands shows its help
	"config":            ClassRead,
	"mcp":               ClassRead,
	"secret":            ClassRead,
	"secret list":       ClassRead,
	"tools":             ClassRead,
	"mcp list":          ClassRead,
	"mcp logs":          ClassRead,
	"mcp validate":      ClassRead,
	"audit tail":        ClassRead,
	"audit query":       ClassRead,
	"audit verify":      ClassRead,
	"audit export":      ClassRead,
	"config get":        ClassRead,
	"config path":       ClassRead,
	"config show":       ClassRead,
	"doctor":            ClassRead,
	"service":           ClassRead,
	"service status":    ClassRead,
	"version":           ClassRead,
	"help":              ClassRead,
	"completion bash":   ClassRead, "completion fish": ClassRead, "completion powershell": ClassRead, "completion zsh": ClassRead,

	"siyuan":                   ClassRead,
	"siyuan init":              ClassManage,
	"siyuan connection":        ClassRead,
	"siyuan connection list":   ClassRead,
	"siyuan connection show":   ClassRead,
	"siyuan connection set":    ClassManage,
	"siyuan connection use":    ClassManage,
	"siyuan connection remove": ClassManage,
	"siyuan connection test":   ClassRead,
	"siyuan permission":        ClassRead,
	"siyuan permission list":   ClassRead,
	"siyuan permission get":    ClassRead,
	"siyuan permission set":    ClassManage,
	"siyuan config":            ClassRead,
	"siyuan config show":       ClassRead,
	"siyuan config path":       ClassRead,
	"siyuan config set":        ClassManage,
	"siyuan config migrate":    ClassManage,
	"siyuan undo":              ClassManage,
	"siyuan doctor":            ClassRead,
	"siyuan panel":             ClassRead,
	"siyuan panel install":     ClassManage,
	"siyuan panel remove":      ClassManage,
	"siyuan telemetry":         ClassRead,
	"siyuan telemetry show":    ClassRead,

	"backup":  ClassManage,
	"restore": ClassManage,

	"vault":         ClassRead,
	"vault info":    ClassRead,
	"vault check":   ClassRead,
	"vault backup":  ClassManage,
	"vault import":  ClassManage,
	"vault export":  ClassManage,
	"vault sync":    ClassManage,
	"vault restore": ClassManage,
	"vault salvage": ClassManage,

	"vault sync list": ClassRead,
	"vault sync stop": ClassManage,

	"vault undo":            ClassManage,
	"vault permission":      ClassRead,
	"vault permission list": ClassRead,
	"vault permission get":  ClassRead,
	"vault permission set":  ClassManage,
}

// Command is one command that can be typed.
type Command struct {
	Path  string // without "collie", such as "mcp list"
	Class Class  // empty if it is missing in classes
}

// Commands returns all commands that do something, sorted by path, including hidden ones and those that cobra adds.
func Commands() []Command {
	root := Tree("")
	var out []Command
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c != root && c.Runnable() {
			path := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
			out = append(out, Command{path, classes[path]})
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	sorting.By(out, func(a, b Command) int { return strings.Compare(a.Path, b.Path) })
	return out
}
