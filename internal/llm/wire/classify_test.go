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
	{"openai limit", 429, `{"error":{"message":"Rate limit reached for gpt-x in organization org-1 on tokens per min (TPM): Limit 30000. Please try again in 6.5s.","type":"tokens","code":"rate_limit_exceeded"}}`, llm.ClassRateLimit, true},
	{"openai limit of the key", 429, `{"error":{"message":"Too many requests","type":"requests"}}`, llm.ClassRateLimit, false},
	{"openai too large for a minute", 429, `{"error":{"message":"Request too large for gpt-x. The maximum context length is not the matter.","code":"rate_limit_exceeded"}}`, llm.ClassRateLimit, true},
	{"openai quota", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, llm.ClassQuota, false},
	{"openai key", 401, `{"error":{"message":"Incorrect API key provided: sk-ab***","type":"invalid_request_error","code":"invalid_api_key"}}`, llm.ClassCredential, false},
	{"openai model", 404, `{"error":{"message":"The model 'gpt-x' does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}`, llm.ClassModelAccess, true},
	{"openai context", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, llm.ClassContext, false},
	{"openai region", 403, `{"error":{"message":"Country, region, or territory not supported","code":"unsupported_country_region_territory"}}`, llm.ClassRegion, false},
	{"openai request", 400, `{"error":{"message":"Invalid value: 'x'.","type":"invalid_request_error","param":"tools"}}`, llm.ClassCaller, false},
	{"openai down", 503, `{"error":{"message":"That model is currently overloaded with other requests.","type":"server_error"}}`, llm.ClassTransient, false},
	{"anthropic limit", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your rate limit"}}`, llm.ClassRateLimit, false},
	{"anthropic overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.ClassOverloaded, false},
	{"anthropic balance", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, llm.ClassQuota, false},
	{"anthropic key", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, llm.ClassCredential, false},
	{"anthropic model", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: gpt-x"}}`, llm.ClassModelAccess, true},
	{"anthropic context", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 250000 tokens > 200000 maximum"}}`, llm.ClassContext, false},
	{"anthropic permission", 403, `{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}}`, llm.ClassPermission, false},
	{"anthropic size", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum allowed number of bytes"}}`, llm.ClassCaller, false},
	{"gemini key", 400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`, llm.ClassCredential, false},
	{"gemini minute", 429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"7s"}]}}]`, llm.ClassRateLimit, false},
	{"gemini day", 429, `{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}`, llm.ClassQuota, false},
	{"gemini context", 400, `{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, llm.ClassContext, false},
	{"gemini region", 400, `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, llm.ClassRegion, false},
	{"gemini model", 404, `{"error":{"code":404,"message":"models/gpt-x is not found for API version v1beta","status":"NOT_FOUND"}}`, llm.ClassModelAccess, true},
	{"gemini overloaded", 503, `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, llm.ClassTransient, false},
	{"gemini tools", 400, `{"error":{"code":400,"message":"Function calling is not enabled for models/gpt-x","status":"INVALID_ARGUMENT"}}`, llm.ClassNoTools, false},
	{"ollama tools", 400, `{"error":"registry.ollama.ai/library/gpt-x:latest does not support tools"}`, llm.ClassNoTools, false},
	{"ollama model", 404, `{"error":"model \"gpt-x\" not found, try pulling it first"}`, llm.ClassModelAccess, true},
	{"openrouter tools", 404, `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, llm.ClassNoTools, false},
	{"openrouter credits", 402, `{"error":{"message":"This request requires more credits","code":402}}`, llm.ClassQuota, false},
	{"deepseek balance", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, llm.ClassQuota, false},
	{"llama.cpp context", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`, llm.ClassContext, false},
	{"vllm tools", 400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}`, llm.ClassNoTools, false},
	{"fastapi", 422, `{"detail":[{"msg":"field required"}]}`, llm.ClassCaller, false},
	{"proxy", 502, `<html><body>Bad Gateway</body></html>`, llm.ClassTransient, false},
	{"cloudflare", 524, ``, llm.ClassTransient, false},
	{"wrong address", 404, `404 page not found`, llm.ClassCaller, false},
	{"forbidden", 403, `Forbidden`, llm.ClassPermission, false},
}

// errorOf returns the error for a provider that responds with this status, header and body.
func errorOf(t *testing.T, status int, header http.Header, body string) *llm.Error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	d := &wire.Draft{Model: "gpt-x", MaxOutput: 1, Style: wire.Style{SystemRole: "system", MaxOutputField: "max_tokens"}}
	h := collect(t.Context(), wire.NewClient(wire.Options{}), codec.For("openai"), wire.Endpoint{BaseURL: server.URL, Key: "k-1"}, d)
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
			e := errorOf(t, r.status, nil, r.body)
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
	in := func(d time.Duration) time.Time { return time.Now().Add(d).UTC() }
	for name, c := range map[string]struct {
		header map[string]string
		body   string
		want   time.Duration
	}{
		"seconds":          {map[string]string{"Retry-After": "7"}, "", 7 * time.Second},
		"part of a second": {map[string]string{"Retry-After": "0.5"}, "", 500 * time.Millisecond},
		"milliseconds":     {map[string]string{"Retry-After-Ms": "1500", "Retry-After": "1"}, "", 1500 * time.Millisecond},
		"a date":           {map[string]string{"Retry-After": in(90 * time.Second).Format(http.TimeFormat)}, "", 90 * time.Second},
		"a date gone by":   {map[string]string{"Retry-After": in(-time.Hour).Format(http.TimeFormat)}, "", 0},
		"negative":         {map[string]string{"Retry-After": "-5"}, "", 0},
		"absurd":           {map[string]string{"Retry-After": "99999999"}, "", 0},
		"no number":        {map[string]string{"Retry-After": "soon"}, "", 0},
		"not a number":     {map[string]string{"Retry-After": "NaN"}, "", 0},
		"gemini":           {nil, `{"error":{"code":429,"message":"x","details":[{"retryDelay":"13.5s"}]}}`, 13500 * time.Millisecond},
		"in the text":      {nil, `{"error":{"message":"Please try again in 1m2.5s."}}`, 62500 * time.Millisecond},
		"openai reset":     {map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "6m0s", "X-Ratelimit-Remaining-Tokens": "100", "X-Ratelimit-Reset-Tokens": "9m0s"}, "", 6 * time.Minute},
		"openrouter reset": {map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": unixMilli(in(2 * time.Minute))}, "", 2 * time.Minute},
		"anthropic reset":  {map[string]string{"Anthropic-Ratelimit-Tokens-Remaining": "0", "Anthropic-Ratelimit-Tokens-Reset": in(3 * time.Minute).Format(time.RFC3339Nano)}, "", 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			for n, v := range c.header {
				header.Set(n, v)
			}
			got := errorOf(t, 429, header, c.body).RetryAfter
			if got > c.want || got < c.want-5*time.Second || c.want == 0 && got != 0 || c.want > 0 && got <= 0 {
				t.Errorf("wait %s, want %s", got, c.want)
			}
		})
	}
}

func unixMilli(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
