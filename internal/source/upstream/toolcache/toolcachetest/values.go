package toolcachetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"collie/internal/source/upstream/toolcache"
)

func (s suite) values(t *testing.T) {
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
		want[fmt.Sprintf("values-%d", i)] = v
	}
	var changes []toolcache.Change
	for name, v := range want {
		changes = append(changes, put(name, v))
	}
	mustChange(t, a, changes...)
	wantEntries(t, load(t, a), "values-", want)
	wantEntries(t, load(t, b), "values-", want)
}

// names are what a careless file name, path, subject or query would confuse.
var names = []string{
	"github", "GitHub", "a-b_c", "a.b", "a..b", ".", "..", "../up", "a/b", `a\b`, "a b", " ", "a%2Fb", "%", "*", ">", "a>b",
	"$KV.x", "?a=b&c#d", "con", "NUL.json", "manifest", "服务器", "服務器", "поиск", "🐕", "a\nb", "a\tb", `"`, "~", "-", "", "é", "e\u0301",
	"__proto__", "0", strings.Repeat("long", 75), strings.Repeat("长", 100), strings.Repeat("长", 100) + "2",
}

func (s suite) names(t *testing.T) {
	a, b := s.pair(t)
	var changes []toolcache.Change
	want := map[string]string{}
	for i, name := range names {
		want[name] = fmt.Sprintf(`{"i":%d}`, i)
		changes = append(changes, put(name, want[name]))
	}
	mustChange(t, a, changes...)
	wantEntries(t, load(t, b), "", want)
	for i, name := range names {
		if i%2 == 0 {
			mustChange(t, b, toolcache.Change{Server: name})
			delete(want, name)
		}
	}
	wantEntries(t, load(t, a), "", want)
}

// large entries are 1 MiB that hardly compresses, and 1 MiB that compresses well.
func (s suite) large(t *testing.T) {
	a, b := s.pair(t)
	rng := rand.New(rand.NewPCG(1, 2))
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = letters[rng.IntN(len(letters))]
	}
	want := map[string]string{
		"large-noise": `{"v":"` + string(noise) + `"}`,
		"large-plain": `{"v":"` + strings.Repeat("列车时刻", 1<<20/12) + `"}`,
		"large-small": `{"v":""}`,
	}
	var changes []toolcache.Change
	for name, v := range want {
		changes = append(changes, put(name, v))
	}
	mustChange(t, a, changes...)
	wantEntries(t, load(t, b), "large-", want)
	mustChange(t, b, toolcache.Change{Server: "large-noise"}, put("large-plain", want["large-noise"]))
	wantEntries(t, load(t, a), "large-", map[string]string{
		"large-plain": want["large-noise"], "large-small": want["large-small"],
	})
}
