package script

import (
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// takeCommand is the command "take VARIABLE PATTERN"; see commands.
func takeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: take VARIABLE PATTERN")
	}
	pattern, err := regexp.Compile(args[1])
	ts.Check(err)
	found := pattern.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) < 2 {
		ts.Fatalf("no match for a group of %s in\n%s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], found[1])
}
