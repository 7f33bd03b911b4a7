package cli

import (
	"bytes"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
)

// maxCrossings is the maximum number of times a call may pass from one of our packages to another, there and
// back.
const maxCrossings = 20

// frame matches a line of a stack in a profile; its first group is the package of one of our functions.
var frame = regexp.MustCompile(`(?m)^#\t0x[0-9a-f]+\t(collie/[\w/.-]+?)\.[\w(*.\[\]·)-]+\+0x`)

// TestCrossings counts how often a call by "collie call" passes from one of our packages to another on its
// way to the vault and back. It takes the stack of an allocation in the vault, from the first function of
// face/cli/call down to package vault, and counts the way back as equally long. Packages of others between
// two of ours do not count. Nor does a function that returns before the call goes on, because it is not on
// the stack.
//
// Not parallel: it makes the runtime record allocations with their stacks.
func TestCrossings(t *testing.T) {
	onceWithoutRace(t)
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 256 // in bytes; small enough that some allocation of each function is recorded
	defer func() { runtime.MemProfileRate = rate }()
	for _, args := range [][]string{{"call", "fs", "tree", "/"}, {"call", "fs", "read", "/Welcome/Writing"}, {"call", "notebook", "list"}} {
		p, _, errw := newProgram("")
		root := p.tree()
		root.SetArgs(append([]string{"--home", t.TempDir()}, args...))
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Errorf("%v: %v %s", args, err, errw)
		}
	}
	runtime.GC()
	runtime.GC() // allocations appear in the profile after the second collection
	var profile bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	most := map[string]int{}
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if way := wayToTheVault(stack); way != nil {
			most[strings.Join(way, " → ")]++
		}
	}
	if len(most) == 0 {
		t.Fatal("no call has reached the vault")
	}
	longest := 0
	for way := range most {
		n := 2 * strings.Count(way, "→")
		longest = max(longest, n)
		t.Logf("%2d %s", n, way)
	}
	if longest > maxCrossings {
		t.Errorf("a call crosses packages %d times on its way to the vault and back, at most %d", longest, maxCrossings)
	}
}

// wayToTheVault returns our packages in a stack from the command to the vault, one entry for each time one is
// entered.
func wayToTheVault(stack string) (way []string) {
	for _, m := range frame.FindAllStringSubmatch(stack, -1) {
		if name := strings.TrimPrefix(m[1], "collie/internal/"); len(way) == 0 || way[len(way)-1] != name {
			way = append(way, name)
		}
	}
	slices.Reverse(way)
	from := slices.Index(way, "face/cli/call")
	if from < 0 || !slices.Contains(way[from:], "vault") {
		return nil
	}
	way = way[from:]
	return way[:slices.Index(way, "vault")+1]
}
