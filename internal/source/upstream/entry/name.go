package entry

import (
	"fmt"
	"strings"

	"collie/internal/lazyregexp"
)

// validName is what a server may be called.
var validName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// CheckNames returns what is wrong with the names of servers, by name; nil if nothing is.
// reserved are the names that are taken while other sources are on. Of two names that differ
// only by case the later one is wrong.
func CheckNames(names, reserved []string) map[string]Problem {
	var found map[string]Problem
	report := func(name, format string, args ...any) {
		if found == nil {
			found = map[string]Problem{}
		}
		found[name] = Problem{"", "R-CV-2", SeverityError, fmt.Sprintf(format, args...)}
	}
	taken, seen := map[string]bool{}, map[string]string{}
	for _, r := range reserved {
		taken[strings.ToLower(r)] = true
	}
	for _, n := range names {
		low := strings.ToLower(n)
		switch first, twice := seen[low]; {
		case !validName.MatchString(n):
			report(n, "%q is not a name for a server; use 1 to 64 of A-Z a-z 0-9 _ -", n)
		case taken[low]:
			report(n, "the name %q is Collie's own; choose another", n)
		case twice && first != n:
			report(n, "the names %q and %q differ only by case; rename one", first, n)
		}
		if _, ok := seen[low]; !ok {
			seen[low] = n
		}
	}
	return found
}
