package toolcachetest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// This file tests that entries come back as they were stored.

// testValues stores entries and names with unusual characters, numbers and nesting, which must come back unchanged.
func (s suite) testValues(t *testing.T) {
	a, b := s.pair(t)
	want := map[string]string{}
	for i, v := range []string{
		`{}`,
		`{"tools":[{"name":"查询","description":"查询列车时刻表；支持中文、繁體與日本語","inputSchema":{"type":"object"}}]}`,
		`{"n":[9007199254740993,-12345678901234567890,0.1,1e300,1.50,0]}`,
		`{"html":"<a href='x'>&amp;</a>","lines":"a\u2028b\u2029c\n\t\"\\","slash":"\/"}`,
		`{"emoji":"🐕‍🦺","pair":"\ud83d\udc15","nul":"\u0000","lone":"` + "\u00a0" + `"}`,
		`{ "spaced" : [ 1 , [ ] , { } , null , true , false ] }`,
		`{"":"empty key","a.b":"dot","*":"star","a":{"a":{"a":[]}},"中文键":"值"}`,
		`{"deep":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
	} {
		want["values-"+strconv.Itoa(i)] = v
	}
	for _, name := range []string{"GitHub", "github", "-", "_", "0", "manifest", "list", strings.Repeat("long", 40)} {
		want["values-"+name] = fmt.Sprintf(`{"name":%q}`, name)
	}
	mustCommit(t, a, want)
	wantEntries(t, mustLoad(t, a), "values-", want)
	wantEntries(t, mustLoad(t, b), "values-", want)
}

// testLarge stores entries of 500 KiB that hardly compress, and of 1 MiB that compress well.
func (s suite) testLarge(t *testing.T) {
	a, b := s.pair(t)
	rng := rand.New(rand.NewPCG(1, 2))
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	noise := make([]byte, 500<<10)
	for i := range noise {
		noise[i] = letters[rng.IntN(len(letters))]
	}
	want := map[string]string{
		"large-noise": `{"v":"` + string(noise) + `"}`,
		"large-plain": `{"v":"` + strings.Repeat("列车时刻", 1<<20/12) + `"}`,
		"large-small": `{"v":""}`,
	}
	mustCommit(t, a, want)
	wantEntries(t, mustLoad(t, b), "large-", want)
	mustCommit(t, b, map[string]string{"large-plain": want["large-noise"]}, "large-noise")
	wantEntries(t, mustLoad(t, a), "large-", map[string]string{
		"large-plain": want["large-noise"], "large-small": want["large-small"],
	})
}
