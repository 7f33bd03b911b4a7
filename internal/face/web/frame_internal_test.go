package web

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"collie/internal/tool"
)

// A request with the header of the panel may use all routes that only read, but few that change something. It may never answer
// a question.
func TestPanel(t *testing.T) {
	t.Parallel()
	var reached []string
	for _, route := range Routes() {
		method, path, found := strings.Cut(route.Pattern, " ")
		if !found {
			method, path = http.MethodPost, route.Pattern
		}
		ask := func(setting string) error {
			r := httptest.NewRequest(method, path, http.NoBody)
			r.SetPathValue("path", setting)
			if err := checkFrame(r, &route); err != nil {
				t.Errorf("%s is refused outside of the panel: %v", route.Pattern, err)
			}
			r.Header.Set(panelHeader, "1")
			return checkFrame(r, &route)
		}
		if method == http.MethodGet {
			if err := ask(""); err != nil {
				t.Errorf("%s: %v", route.Pattern, err)
			}
			continue
		}
		if strings.Contains(route.Pattern, "/settings/{path}") {
			for _, setting := range []string{"guard.mode", "guard.clients", "http.allowedHosts", "web.frameOrigins", "contexts", "x.context.view"} {
				if err := ask(setting); tool.KindOf(err) != tool.Denied {
					t.Errorf("%s of %s: %v", route.Pattern, setting, err)
				}
			}
			if err := ask("context.view"); err != nil {
				t.Errorf("%s: %v", route.Pattern, err)
			}
			continue
		}
		if err := ask(""); err == nil {
			reached = append(reached, route.Pattern)
		} else if tool.KindOf(err) != tool.Denied {
			t.Errorf("%s: %v", route.Pattern, err)
		}
	}
	want := []string{"POST /api/v1/notes/levels", "POST /api/v1/tools/switches", "POST /api/v1/translations"}
	slices.Sort(reached)
	if !slices.Equal(reached, want) {
		t.Errorf("the panel reaches %q, want %q", reached, want)
	}
}
