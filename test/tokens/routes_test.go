package tokens_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"collie/internal/face/web"
)

// variable matches a variable in the pattern of a route.
var variable = regexp.MustCompile(`\{\w+\}`)

// TestEveryRouteRefusesStrangers: no route of the API answers without a token, to a token with another scope or bound
// to another profile, under a foreign host name, or to a foreign page. Tokens cannot manage the gateway.
func TestEveryRouteRefusesStrangers(t *testing.T) {
	t.Parallel()
	w := startWorld(t)
	_, control, _ := w.gateway.Keys(t)
	tools := w.runToken("add", "tools", "--scope", "tools")
	chat := w.runToken("add", "chat", "--scope", "chat")
	bound := w.runToken("add", "bound", "--scope", "chat,tools", "--profile", "reads")
	w.awaitStatus(http.StatusOK, bound)
	w.awaitStatus(http.StatusOK, tools)
	w.awaitStatus(http.StatusForbidden, chat)
	foreign, refused := []string{"Origin", "https://evil.example"}, []int{http.StatusForbidden}
	for _, r := range web.Routes() {
		method, path, named := strings.Cut(r.Pattern, " ")
		if !named {
			method, path = http.MethodGet, r.Pattern
		}
		path = variable.ReplaceAllLiteralString(path, "x")
		body := ""
		if method != http.MethodGet {
			body = `{}`
		}
		check := func(who, query, token string, want []int, head ...string) {
			t.Helper()
			if status, _, answer := w.send(method, path+query, token, "", body, head...); !slices.Contains(want, status) {
				t.Errorf("%s %s: %d %.200s; want one of %d", r.Pattern, who, status, answer, want)
			}
		}
		check("without a token", "", "", []int{http.StatusUnauthorized})
		check("with a wrong token", "", "x", []int{http.StatusUnauthorized, http.StatusTooManyRequests})
		check("under a foreign name", "", control, []int{http.StatusForbidden, http.StatusMisdirectedRequest}, "Host", "evil.example")
		check("from a foreign page", "", control, refused, foreign...)
		check("with a token of another profile", "?profile=flat", bound, refused)
		switch r.Class {
		case web.ClassManage:
			for _, token := range []string{w.first, tools, chat, bound} {
				check("with a token", "", token, refused)
			}
		case web.ClassChat:
			check("with the first token", "", w.first, refused)
			check("with the scope tools", "", tools, refused)
		case web.ClassCall, web.ClassRead:
			check("with the scope chat", "", chat, refused)
		}
	}
}
