package web_test

import (
	"net/http"
	"testing"
)

// The API lists, writes, matches and deletes the files of agents. A file with an error is refused with the line and the field,
// and no name leads outside of the folders.
func TestAgentFiles(t *testing.T) {
	t.Parallel()
	c := newClientOfAllParts(t)
	good := `{"text":"---\ndescription: answers briefly\n---\n\nBe brief."}`
	c.do(200, http.MethodPut, "/agents/agents/brief", good)
	c.do(200, http.MethodPut, "/agents/context/tea", `{"text":"---\nkeywords: [茶, oolong]\n---\nfour minutes"}`)
	c.do(200, http.MethodPut, "/agents/skills/brew", `{"text":"---\ndescription: brews\n---\nWarm the pot."}`)
	_, list := c.do(200, http.MethodGet, "/agents", "")
	if list.Get("agents.0.name").Str != "brief" || list.Get("context.0.name").Str != "tea" || list.Get("skills.0.name").Str != "brew" || list.Get("problems.#").Int() != 0 {
		t.Errorf("the list: %s", list.Raw)
	}
	if _, got := c.do(200, http.MethodPost, "/agents/matches", `{"text":"泡茶"}`); got.Get("matches.0.name").Str != "tea" || got.Get("matches.0.keyword").Str != "茶" {
		t.Errorf("matches: %s", got.Raw)
	}
	_, wrong := c.do(400, http.MethodPut, "/agents/agents/brief", `{"text":"---\ndescription: x\nengine: steam\n---\n"}`)
	if wrong.Get("error.line").Int() != 3 || wrong.Get("error.field").Str != "engine" {
		t.Errorf("a wrong file: %s", wrong.Raw)
	}
	if _, kept := c.do(200, http.MethodGet, "/agents/agents/brief", ""); kept.Get("text").Str != "---\ndescription: answers briefly\n---\n\nBe brief." {
		t.Errorf("kept: %s", kept.Raw)
	}
	for _, place := range []string{"/agents/agents/..%2F..%2Fx", "/agents/plans/x", "/agents/agents/.x", "/agents/agents/a%00"} {
		c.do(400, http.MethodPut, place, good)
		c.do(400, http.MethodGet, place, "")
		c.do(400, http.MethodDelete, place, "")
	}
	c.do(200, http.MethodDelete, "/agents/skills/brew", "")
	c.do(404, http.MethodDelete, "/agents/skills/brew", "")
	c.do(404, http.MethodGet, "/agents/skills/brew", "")
}
