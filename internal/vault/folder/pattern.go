package folder

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: few runs of the program import anything.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
