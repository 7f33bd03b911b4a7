package tokens_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/await"
)

// TestLevelsOfProfiles: for every level of a notebook and of a profile, the lower one counts, for tokens that are held to the profile and for
// clients that choose it, in every view. What is lowered to none is not there.
func TestLevelsOfProfiles(t *testing.T) {
	t.Parallel()
	w := open(t)
	call := func(token, session, query, name, args string) (string, bool) {
		body := w.rpc(token, session, query, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
		result := gjson.Get(body, "result")
		return body, result.Exists() && !result.Get("isError").Bool()
	}
	plain := w.session(w.first, "")
	must := func(name, args string) string {
		t.Helper()
		body, ok := call(w.first, plain, "", name, args)
		if !ok {
			t.Fatalf("%s %s: %s", name, args, body)
		}
		return gjson.Get(body, "result.structuredContent").Raw
	}
	order := map[string]int{"none": 0, "r": 1, "rw": 2, "rwd": 3}
	ids := map[string]string{}
	for _, own := range []string{"r", "rw", "rwd"} { // of the notebook
		created := must("notebook", fmt.Sprintf(`{"action":"create","name":"secret%s"}`, own))
		ids[own] = idLike.FindString(created)
		must("fs", fmt.Sprintf(`{"action":"write","path":"/secret%s/Doc","markdown":"codeword"}`, own))
		if out, errs, code := w.programs.Run(t, w.gateway.Home, "siyuan", "permission", "set", ids[own], own, "--config", w.settings); code != 0 {
			t.Fatalf("permission set: %s %s", out, errs)
		}
	}
	var list []string
	for most := range order {
		list = append(list, fmt.Sprintf(`"listed-%s":{"notebooks":{%q:%q,%q:%q,%q:%q}}`, most, ids["r"], most, ids["rw"], most, ids["rwd"], most),
			fmt.Sprintf(`"all-%s":{"notebooks":{"*":%q}}`, most, most))
	}
	w.programs.SettingsAt(t, w.settings, nil, `"siyuan":{"enabled":true}`, `"profiles":{`+strings.Join(list, ",")+`}`)
	await.Until(t, "the profiles are taken up", func() bool {
		status, _, _ := w.ask(http.MethodPost, "/mcp?profile=all-none", w.first, "", initialize)
		return status == http.StatusOK
	})
	n := 0
	for most := range order {
		for _, profile := range []string{"listed-" + most, "all-" + most} {
			bound := w.token("add", "of-"+profile, "--profile", profile)
			w.until(http.StatusOK, bound)
			for _, way := range [][2]string{
				{bound, ""},
				{w.first, "?profile=" + profile},
				{w.first, "?profile=" + profile + "@grouped"},
				{w.first, "?profile=" + profile + "@flat"},
				{w.first, "?profile=" + profile + "@search"},
			} {
				session := w.session(way[0], way[1])
				do := func(action, args string) (string, bool) {
					switch {
					case strings.HasSuffix(way[1], "@flat"):
						return call(way[0], session, way[1], "fs__"+action, "{"+args+"}")
					case strings.HasSuffix(way[1], "@search"):
						return call(way[0], session, way[1], "collie_call", fmt.Sprintf(`{"name":"fs__%s","args":{%s}}`, action, args))
					}
					return call(way[0], session, way[1], "fs", fmt.Sprintf(`{"action":%q,%s}`, action, args))
				}
				for own := range ids {
					allowed := min(order[own], order[most])
					where := fmt.Sprintf("%s%s in a notebook of %s", profile, way[1], own)
					root, _ := do("ls", `"path":"/"`)
					if shown := strings.Contains(root, `secret`+own+`"`) || strings.Contains(root, `secret`+own+`\"`); shown != (allowed > 0) {
						t.Errorf("%s: shown is %v: %.300s", where, shown, root)
					}
					read, ok := do("read", fmt.Sprintf(`"path":"/secret%s/Doc"`, own))
					if ok != (allowed > 0) || strings.Contains(read, "codeword") != (allowed > 0) {
						t.Errorf("%s: read answers %.300s", where, read)
					}
					n++
					wrote, ok := do("write", fmt.Sprintf(`"path":"/secret%s/New%d","markdown":"x"`, own, n))
					if ok != (allowed > 1) || allowed == 0 && strings.Contains(wrote, ids[own]) {
						t.Errorf("%s: write answers %.300s", where, wrote)
					}
					found, _ := do("search", `"query":"codeword"`)
					if strings.Contains(found, "/secret"+own+"/") != (allowed > 0) {
						t.Errorf("%s: search answers %.300s", where, found)
					}
				}
			}
		}
	}
}
