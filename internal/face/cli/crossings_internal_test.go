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

// mostCrossings bounds how often a call goes from one package of ours into another, there and back.
const mostCrossings = 20

// frame is a line of a profile's stack; its first group is the package of a function of ours.
var frame = regexp.MustCompile(`(?m)^#\t0x[0-9a-f]+\t(collie/[\w/.-]+?)\.[\w(*.\[\]·)-]+\+0x`)

// TestCrossings counts how often a call by "collie call" changes packages of ours on its way to the vault and back: in
// the stack of whatever the vault does for it, from the first function of face/cli/call down to the first one of package
// vault, and as often on the way back. Packages of others between two of ours do not count,
// nor does what a package asks of another one and has back before the call goes on: that is not on the stack.
//
// Not parallel: it has the runtime note allocations with their stacks.
func TestCrossings(t *testing.T) {
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 256 // bytes: some allocation of each function is among them
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
	runtime.GC() // what is noted shows after the second one
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
	if longest > mostCrossings {
		t.Errorf("a call crosses packages %d times on its way to the vault and back, at most %d", longest, mostCrossings)
	}
}

// wayToTheVault are the packages of ours in a stack from the command to the vault, each as often as it is entered.
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
