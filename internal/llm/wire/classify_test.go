package wire_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"collie/internal/llm"
	"collie/internal/llm/codec"
	"collie/internal/llm/wire"
)

// refusals are error responses of providers with the class that each means.
var refusals = []struct {
	from   string
	status int
	body   string
	class  llm.Class
	scoped bool
}{
	{from: "openai limit", status: 429, body: `{"error":{"message":"Rate limit reached for gpt-x in organization org-1 on tokens per min (TPM): Limit 30000. Please try again in 6.5s.","type":"tokens","code":"rate_limit_exceeded"}}`, class: llm.ClassRateLimit, scoped: true},
	{from: "openai limit of the key", status: 429, body: `{"error":{"message":"Too many requests","type":"requests"}}`, class: llm.ClassRateLimit},
	{from: "openai too large for a minute", status: 429, body: `{"error":{"message":"Request too large for gpt-x. The maximum context length is not the matter.","code":"rate_limit_exceeded"}}`, class: llm.ClassRateLimit, scoped: true},
	{from: "openai quota", status: 429, body: `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, class: llm.ClassQuota},
	{from: "openai key", status: 401, body: `{"error":{"message":"Incorrect API key provided: sk-ab***","type":"invalid_request_error","code":"invalid_api_key"}}`, class: llm.ClassCredential},
	{from: "openai model", status: 404, body: `{"error":{"message":"The model 'gpt-x' does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}`, class: llm.ClassModelAccess, scoped: true},
	{from: "openai context", status: 400, body: `{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, class: llm.ClassContext},
	{from: "openai region", status: 403, body: `{"error":{"message":"Country, region, or territory not supported","code":"unsupported_country_region_territory"}}`, class: llm.ClassRegion},
	{from: "openai request", status: 400, body: `{"error":{"message":"Invalid value: 'x'.","type":"invalid_request_error","param":"tools"}}`, class: llm.ClassCaller},
	{from: "openai down", status: 503, body: `{"error":{"message":"That model is currently overloaded with other requests.","type":"server_error"}}`, class: llm.ClassTransient},
	{from: "anthropic limit", status: 429, body: `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your rate limit"}}`, class: llm.ClassRateLimit},
	{from: "anthropic overloaded", status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, class: llm.ClassOverloaded},
	{from: "anthropic balance", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, class: llm.ClassQuota},
	{from: "anthropic key", status: 401, body: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, class: llm.ClassCredential},
	{from: "anthropic model", status: 404, body: `{"type":"error","error":{"type":"not_found_error","message":"model: gpt-x"}}`, class: llm.ClassModelAccess, scoped: true},
	{from: "anthropic context", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 250000 tokens > 200000 maximum"}}`, class: llm.ClassContext},
	{from: "anthropic permission", status: 403, body: `{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}}`, class: llm.ClassPermission},
	{from: "anthropic size", status: 413, body: `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum allowed number of bytes"}}`, class: llm.ClassCaller},
	{from: "gemini key", status: 400, body: `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`, class: llm.ClassCredential},
	{from: "gemini minute", status: 429, body: `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"7s"}]}}]`, class: llm.ClassRateLimit},
	{from: "gemini day", status: 429, body: `{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}`, class: llm.ClassQuota},
	{from: "gemini context", status: 400, body: `{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, class: llm.ClassContext},
	{from: "gemini region", status: 400, body: `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, class: llm.ClassRegion},
	{from: "gemini model", status: 404, body: `{"error":{"code":404,"message":"models/gpt-x is not found for API version v1beta","status":"NOT_FOUND"}}`, class: llm.ClassModelAccess, scoped: true},
	{from: "gemini overloaded", status: 503, body: `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, class: llm.ClassTransient},
	{from: "gemini tools", status: 400, body: `{"error":{"code":400,"message":"Function calling is not enabled for models/gpt-x","status":"INVALID_ARGUMENT"}}`, class: llm.ClassNoTools},
	{from: "ollama tools", status: 400, body: `{"error":"registry.ollama.ai/library/gpt-x:latest does not support tools"}`, class: llm.ClassNoTools},
	{from: "ollama model", status: 404, body: `{"error":"model \"gpt-x\" not found, try pulling it first"}`, class: llm.ClassModelAccess, scoped: true},
	{from: "openrouter tools", status: 404, body: `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, class: llm.ClassNoTools},
	{from: "openrouter credits", status: 402, body: `{"error":{"message":"This request requires more credits","code":402}}`, class: llm.ClassQuota},
	{from: "deepseek balance", status: 402, body: `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, class: llm.ClassQuota},
	{from: "llama.cpp context", status: 400, body: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`, class: llm.ClassContext},
	{from: "vllm tools", status: 400, body: `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}`, class: llm.ClassNoTools},
	{from: "fastapi", status: 422, body: `{"detail":[{"msg":"field required"}]}`, class: llm.ClassCaller},
	{from: "proxy", status: 502, body: `<html><body>Bad Gateway</body></html>`, class: llm.ClassTransient},
	{from: "cloudflare", status: 524, class: llm.ClassTransient},
	{from: "wrong address", status: 404, body: `404 page not found`, class: llm.ClassCaller},
	{from: "forbidden", status: 403, body: `Forbidden`, class: llm.ClassPermission},
}

// classifyResponse returns the error for a provider that responds with this status, header and body.
func classifyResponse(t *testing.T, status int, header http.Header, body string) *llm.Error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	d := &wire.Draft{Model: "gpt-x", MaxOutput: 1, Style: wire.Style{SystemRole: "system", MaxOutputField: "max_tokens"}}
	h := collectEvents(t.Context(), wire.NewClient(wire.Options{}), codec.For("openai"), wire.Endpoint{BaseURL: server.URL, Key: "k-1"}, d)
	if h.Err == nil {
		t.Fatalf("%d %s is not an error", status, body)
	}
	return h.Err
}

func TestClasses(t *testing.T) {
	t.Parallel()
	for _, r := range refusals {
		t.Run(r.from, func(t *testing.T) {
			t.Parallel()
			e := classifyResponse(t, r.status, nil, r.body)
			if e.Class != r.class || e.Scoped != r.scoped || e.Status != r.status || e.Message == "" {
				t.Errorf("class %s, want %s; scoped %t, status %d, message %q", e.Class, r.class, e.Scoped, e.Status, e.Message)
			}
			if strings.Contains(e.Message, "<html>") && len(e.Message) > 300 {
				t.Errorf("the message is a page: %q", e.Message)
			}
		})
	}
}

// TestRetryAfter checks all forms in which providers say how long to wait, and values that must be ignored.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	in := func(d time.Duration) time.Time { return begun.Add(d).UTC() }
	for name, c := range map[string]struct {
		header map[string]string
		body   string
		want   time.Duration
	}{
		"seconds":          {header: map[string]string{"Retry-After": "7"}, want: 7 * time.Second},
		"part of a second": {header: map[string]string{"Retry-After": "0.5"}, want: 500 * time.Millisecond},
		"milliseconds":     {header: map[string]string{"Retry-After-Ms": "1500", "Retry-After": "1"}, want: 1500 * time.Millisecond},
		"a date":           {header: map[string]string{"Retry-After": in(90 * time.Second).Format(http.TimeFormat)}, want: 90 * time.Second},
		"a date gone by":   {header: map[string]string{"Retry-After": in(-time.Hour).Format(http.TimeFormat)}},
		"negative":         {header: map[string]string{"Retry-After": "-5"}},
		"absurd":           {header: map[string]string{"Retry-After": "99999999"}},
		"no number":        {header: map[string]string{"Retry-After": "soon"}},
		"not a number":     {header: map[string]string{"Retry-After": "NaN"}},
		"gemini":           {body: `{"error":{"code":429,"message":"x","details":[{"retryDelay":"13.5s"}]}}`, want: 13500 * time.Millisecond},
		"in the text":      {body: `{"error":{"message":"Please try again in 1m2.5s."}}`, want: 62500 * time.Millisecond},
		"openai reset":     {header: map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "6m0s", "X-Ratelimit-Remaining-Tokens": "100", "X-Ratelimit-Reset-Tokens": "9m0s"}, want: 6 * time.Minute},
		"openrouter reset": {header: map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": unixMilli(in(2 * time.Minute))}, want: 2 * time.Minute},
		"anthropic reset":  {header: map[string]string{"Anthropic-Ratelimit-Tokens-Remaining": "0", "Anthropic-Ratelimit-Tokens-Reset": in(3 * time.Minute).Format(time.RFC3339Nano)}, want: 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			for n, v := range c.header {
				header.Set(n, v)
			}
			got := classifyResponse(t, 429, header, c.body).RetryAfter
			least := c.want - time.Since(begun) - time.Second // a date in a header has no parts of a second
			if got > c.want || got < least || c.want == 0 && got != 0 || c.want > 0 && got <= 0 {
				t.Errorf("wait %s, want %s", got, c.want)
			}
		})
	}
}

func unixMilli(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
