package agent_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/gateway"
)

// TestNoModelIsChosen checks the error if the settings name no model: it names the models of the provider.
func TestNoModelIsChosen(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m-1"},{"id":"m-2"}]}`)
	}))
	t.Cleanup(srv.Close)
	p := gateway.LinkPrograms(t)
	provider := fmt.Sprintf(`"providers":{"fake":{"kind":"openai","baseURL":%q,"keys":[{"label":"a","secret":"x"}]}}`, srv.URL+"/v1")
	for agent, want := range map[string]string{
		`"agent":{"provider":"fake"}`: "no model is chosen; there are fake/m-1, fake/m-2: ",
		`"agent":{}`:                  "no model is chosen; there are fake/m-1, fake/m-2: ",
		`"agent":{"provider":"fork"}`: "there is no such provider",
	} {
		settings := p.Settings(t, nil, `"siyuan":{"enabled":false}`, provider, agent)
		home := t.TempDir()
		for _, session := range [][]string{{}, {"--continue"}} {
			_, stderr, code := p.Run(t, home, append([]string{"agent", "run", "hello", "--config", settings}, session...)...)
			if code == 0 || !strings.Contains(stderr, want) {
				t.Errorf("%s %v: exit %d\n%s", agent, session, code, stderr)
			}
		}
		if out, stderr, code := p.Run(t, home, "sessions", "list", "--json", "--config", settings); code != 0 || len(gjson.Get(out, "sessions").Array()) != 0 {
			t.Errorf("%s: sessions are left: exit %d\n%s%s", agent, code, out, stderr)
		}
	}
	// A model that names its provider is that provider's, also where the settings name the same one.
	settings := p.Settings(t, nil, `"siyuan":{"enabled":false}`, provider, `"agent":{"provider":"fake"}`)
	_, stderr, _ := p.Run(t, t.TempDir(), "agent", "run", "hello", "--model", "fake/m-1", "--config", settings)
	if strings.Contains(stderr, "no model") || strings.Contains(stderr, "fake/fake") {
		t.Errorf("the model of a flag: %s", stderr)
	}
}
