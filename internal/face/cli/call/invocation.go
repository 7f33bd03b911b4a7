package call

import (
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/root"
)

// This file separates the flags of `collie call` itself from the arguments of the action.

// invocation is a command line "TOOL [ACTION] …" after the first pass: the command's own flags have been
// removed, the rest is for the action.
type invocation struct {
	words []string // the words before the first flag of the action: TOOL and ACTION
	rest  []string // the flags of the action, in order
	help  bool
}

// split removes the flags of c and of the whole program from args and sets them. After "--" all flags belong
// to the action.
func split(c *cobra.Command, args []string) (invocation, error) {
	var inv invocation
	for len(args) > 0 {
		token := args[0]
		args = args[1:]
		if token == "--" {
			inv.rest = append(append(inv.rest, token), args...)
			break
		}
		if token == "-h" || token == "--help" {
			inv.help = true
			continue
		}
		consumed, err := setFlag(c, token, args, inv.words)
		if err != nil {
			return inv, err
		}
		switch {
		case consumed > 0:
			args = args[consumed-1:]
		case len(inv.rest) == 0 && !strings.HasPrefix(token, "-"):
			inv.words = append(inv.words, token)
		default:
			inv.rest = append(inv.rest, token)
		}
	}
	return inv, nil
}

// setFlag sets a flag of c if token is one. consumed is the number of tokens that the flag took, 0 if token is not a flag
// of c. next are the tokens after it, words are the words before it.
func setFlag(c *cobra.Command, token string, next, words []string) (consumed int, err error) {
	name, value, inline := strings.Cut(strings.TrimPrefix(token, "--"), "=")
	if !strings.HasPrefix(token, "--") || isForeignArgument(words, name) {
		return 0, nil
	}
	f := c.Flag(name)
	truth := "true"
	if f == nil {
		if f = c.Flag(strings.TrimPrefix(name, "no-")); f == nil || f.Value.Type() != "bool" {
			return 0, nil
		}
		truth = "false"
	}
	consumed = 1
	switch {
	case inline && truth == "false":
		return 0, root.Usage("%s: write --%s=false", token, f.Name)
	case inline:
	case f.Value.Type() == "bool":
		value = truth
	case len(next) == 0:
		return 0, root.Usage("--%s needs a value: %s", name, f.Usage)
	default:
		value, consumed = next[0], 2
	}
	if err := f.Value.Set(value); err != nil {
		return 0, root.Usage("--%s is %q: %v", name, value, err)
	}
	f.Changed = true
	return consumed, nil
}

// hasFlag returns a function that reports whether the command line itself has a flag after words.
func hasFlag(c *cobra.Command, words []string) func(name string) bool {
	return func(name string) bool {
		if isForeignArgument(words, name) {
			return false
		}
		if name == "help" || c.Flag(name) != nil {
			return true
		}
		f := c.Flag(strings.TrimPrefix(name, "no-"))
		return f != nil && f.Value.Type() == "bool"
	}
}
