package tokens_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/await"
)

// TestLevelsOfProfiles tries every level of a notebook with every level of a profile: the lower one counts, for
// tokens that are bound to the profile and for clients that choose it, in every view. A notebook whose level is
// lowered to none does not show.
func TestLevelsOfProfiles(t *testing.T) {
	t.Parallel()
	w := startWorld(t)
	call := func(token, session, query, name, args string) (string, bool) {
		body := w.rpc(token, session, query, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
		result := gjson.Get(body, "result")
		return body, result.Exists() && !result.Get("isError").Bool()
	}
	plain := w.openSession(w.first, "")
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
	for _, own := range []string{"r", "rw", "rwd"} { // levels of the notebooks
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
		status, _, _ := w.send(http.MethodPost, "/mcp?profile=all-none", w.first, "", initialize)
		return status == http.StatusOK
	})
	n := 0
	for most := range order {
		for _, profile := range []string{"listed-" + most, "all-" + most} {
			bound := w.runToken("add", "of-"+profile, "--profile", profile)
			w.awaitStatus(http.StatusOK, bound)
			for _, way := range [][2]string{
				{bound, ""},
				{w.first, "?profile=" + profile},
				{w.first, "?profile=" + profile + "@grouped"},
				{w.first, "?profile=" + profile + "@flat"},
				{w.first, "?profile=" + profile + "@search"},
			} {
				session := w.openSession(way[0], way[1])
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

// TestScopesAndLevels: scopes and levels are independent. With the scope tools, a token reads and writes what the
// levels of its profile allow; without it, nothing, whatever the levels.
func TestScopesAndLevels(t *testing.T) {
	t.Parallel()
	w := startWorld(t)
	order := []string{"none", "r", "rw", "rwd"}
	var list []string
	for _, most := range order {
		list = append(list, fmt.Sprintf(`%q:{"notebooks":{"*":%q}}`, "all-"+most, most))
	}
	w.programs.SettingsAt(t, w.settings, nil, `"siyuan":{"enabled":true}`, `"profiles":{`+strings.Join(list, ",")+`}`)
	api := func(token, action, args string) (int, string, bool) {
		status, _, body := w.send(http.MethodPost, "/api/v1/calls", token, "", fmt.Sprintf(`{"name":"fs","args":{"action":%q,%s}}`, action, args))
		return status, body, status == http.StatusOK && !gjson.Get(body, "error").Exists() && !gjson.Get(body, "isError").Bool()
	}
	if _, _, body := w.send(http.MethodPost, "/api/v1/calls", w.first, "", `{"name":"notebook","args":{"action":"create","name":"Mine"}}`); idLike.FindString(body) == "" {
		t.Fatal(body)
	}
	id := ""
	if out, errs, code := w.programs.Run(t, w.gateway.Home, "siyuan", "permission", "list", "--config", w.settings, "--json"); code != 0 {
		t.Fatalf("%s %s", out, errs)
	} else if id = idLike.FindString(out); id == "" {
		t.Fatal(out)
	}
	if out, errs, code := w.programs.Run(t, w.gateway.Home, "siyuan", "permission", "set", id, "rwd", "--config", w.settings); code != 0 {
		t.Fatalf("%s %s", out, errs)
	}
	if _, body, ok := api(w.first, "write", `"path":"/Mine/Doc","markdown":"codeword"`); !ok {
		t.Fatal(body)
	}
	await.Until(t, "the profiles are taken up", func() bool {
		status, _, _ := w.send(http.MethodPost, "/mcp?profile=all-none", w.first, "", initialize)
		return status == http.StatusOK
	})
	for level, most := range order {
		for n, scopes := range []string{"tools", "chat", "chat,approve", "tools,approve"} {
			secret := w.runToken("add", fmt.Sprintf("%s-%d", most, n), "--profile", "all-"+most, "--scope", scopes)
			where := fmt.Sprintf("scope %s, level %s", scopes, most)
			if !strings.Contains(scopes, "tools") {
				w.awaitStatus(http.StatusForbidden, secret)
				for _, action := range []string{"read", "write"} {
					if status, body, _ := api(secret, action, `"path":"/Mine/Doc","markdown":"x"`); status != http.StatusForbidden || strings.Contains(body, "codeword") {
						t.Errorf("%s: %s answers %d %.200s", where, action, status, body)
					}
				}
				if status, id, _ := w.send(http.MethodPost, "/mcp", secret, "", initialize); status != http.StatusForbidden || id != "" {
					t.Errorf("%s: initialize is %d", where, status)
				}
				continue
			}
			w.awaitStatus(http.StatusOK, secret)
			if _, body, ok := api(secret, "read", `"path":"/Mine/Doc"`); ok != (level > 0) || strings.Contains(body, "codeword") != (level > 0) {
				t.Errorf("%s: read answers %.300s", where, body)
			}
			if _, body, ok := api(secret, "write", fmt.Sprintf(`"path":"/Mine/New-%s-%d","markdown":"x"`, most, n)); ok != (level > 1) || level == 0 && strings.Contains(body, id) {
				t.Errorf("%s: write answers %.300s", where, body)
			}
		}
	}
}
