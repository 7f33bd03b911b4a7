package agent_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// /metrics counts requests to models and their outcomes. There are two keys, and the provider tells the first
// one to wait.
func TestMetricsOfModels(t *testing.T) {
	fake, err := provider.New(scriptOf(provider.Turn{
		Say: "hello", Usage: &provider.Usage{Input: 11, Output: 7}, Fail: []provider.Failure{{Status: http.StatusTooManyRequests}},
	}), provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(fake)
	t.Cleanup(at.Close)
	p := gateway.LinkPrograms(t)
	g := p.Serve(t, p.Settings(t, nil, `"siyuan":{"enabled":false}`, `"http":{"metrics":true}`, fmt.Sprintf(`"providers":{"fake":{"kind":"openai","baseURL":%q,`+
		`"keys":[{"label":"canary-label-1","secret":"canary-secret-1"},{"label":"canary-label-2","secret":"canary-secret-2"}]}}`, at.URL+"/v1"),
		`"models":{"fake/m":{"price":{"input":2,"output":4}}}`, `"agent":{"model":"fake/m"}`))
	control := g.Control(t)
	scrape := func() string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.URL+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+control)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("/metrics: status %d, %v", resp.StatusCode, err)
		}
		return string(body)
	}
	if got := scrape(); strings.Contains(got, "\nllm_") {
		t.Errorf("before a model was asked:\n%s", got)
	}
	_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{}`)
	_, accepted := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", control, "application/json", `{"userMessage":{"text":"hello"}}`)
	if end := awaitTurnEnd(t, g, accepted.Get("turnId").String()); end.Get("state").String() != "done" {
		t.Fatalf("it ended %s", end.Raw)
	}
	got := scrape()
	for _, want := range []string{
		`llm_requests_total{provider="fake",model="m",outcome="ok"} 1`, `llm_requests_total{provider="fake",model="m",outcome="rate_limit"} 1`,
		`llm_tokens_total{provider="fake",model="m",kind="input"} 11`, `llm_tokens_total{provider="fake",model="m",kind="output"} 7`,
		`llm_cost_micros_total{provider="fake",model="m"} 50`,
		`llm_keys{provider="fake",state="active"} 1`, `llm_keys{provider="fake",state="limited"} 1`, `llm_keys{provider="fake",state="cooling"} 0`, `llm_keys{provider="fake",state="invalid"} 0`,
	} {
		if !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("there is no %s in\n%s", want, got[strings.Index(got, "# HELP llm"):])
		}
	}
	if strings.Contains(got, "canary") {
		t.Errorf("keys are shown:\n%s", got)
	}
}
