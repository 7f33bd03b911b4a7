package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"collie/internal/llm"
)

// This file decides what kind of failure an error of a provider is.

// failure is an error as a provider described it, read from any of the shapes in use.
type failure struct {
	Status  int // of HTTP, or a number in the body that takes its place
	Code    string
	Message string
	// details are the remaining fields of the error, where some providers put the decisive words.
	details string
}

// parseFailure reads an error body. ok is false if it has none of the known shapes.
func parseFailure(body []byte) (f failure, ok bool) {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' { // Gemini, asked without alt=sse
		var list []json.RawMessage
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			return f, false
		}
		body = list[0]
	}
	var outer map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil {
		return f, false
	}
	inner := outer
	switch e := outer["error"]; {
	case len(e) > 0 && e[0] == '{':
		inner = nil
		if json.Unmarshal(e, &inner) != nil {
			return f, false
		}
	case len(e) > 0 && e[0] == '"':
		f.Message = stringOrRaw(e)
	default:
		if stringOrRaw(outer["type"]) != "error" && stringOrRaw(outer["object"]) != "error" && len(outer["message"]) == 0 && len(outer["detail"]) == 0 {
			return f, false
		}
	}
	if f.Message == "" {
		f.Message = stringOrRaw(inner["message"])
	}
	if f.Message == "" {
		f.Message = stringOrRaw(inner["detail"])
	}
	for _, field := range []string{"code", "status", "type"} { // the first that is not a number
		var n int
		if json.Unmarshal(inner[field], &n) == nil && n >= 400 && n < 600 {
			f.Status = n
			continue
		}
		if word := stringOrRaw(inner[field]); word != "" && f.Code == "" && word != "error" {
			f.Code = word
		}
	}
	f.details = stringOrRaw(inner["type"]) + " " + string(inner["details"]) + " " + string(inner["metadata"])
	return f, f.Message != "" || f.Code != ""
}

// stringOrRaw returns the value of a JSON string, or any other JSON verbatim.
func stringOrRaw(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// classify turns an HTTP error response into an [*llm.Error]. model is the model that was asked for.
func classify(status int, header http.Header, body []byte, model string, now time.Time) *llm.Error {
	f, ok := parseFailure(body)
	if !ok {
		f = failure{Message: excerpt(body)}
	}
	if status >= 400 || f.Status == 0 {
		f.Status = status
	}
	e := f.asError(model)
	e.RetryAfter = retryAfter(header, f.Message+" "+f.details, now)
	return e
}

// FrameError returns the error that a frame of a stream reports, or nil.
func FrameError(data []byte) *llm.Error {
	if !bytes.Contains(data, []byte(`"error"`)) {
		return nil // the common case
	}
	var outer struct {
		Type  string          `json:"type"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &outer) == nil && outer.Type != "error" && (len(outer.Error) == 0 || string(outer.Error) == "null") {
		return nil
	}
	f, ok := parseFailure(data)
	if !ok {
		return nil
	}
	e := f.asError("")
	e.RetryAfter = retryAfter(nil, f.Message+" "+f.details, time.Time{})
	return e
}

// asError converts f. The class is decided by words first, then by the status.
func (f failure) asError(model string) *llm.Error {
	e := &llm.Error{Status: f.Status, Code: f.Code, Message: f.Message}
	words := strings.ToLower(f.Code + " " + f.details + " " + f.Message)
	namesModel := model != "" && strings.Contains(words, strings.ToLower(model))
	e.Class = f.classOf(words, namesModel)
	switch e.Class {
	case llm.ClassRateLimit, llm.ClassOverloaded:
		e.Scoped = namesModel
	case llm.ClassModelAccess:
		e.Scoped = true
		e.Hint = "see which models the key may use, or take another one"
	case llm.ClassCredential:
		e.Hint = "the provider does not accept this key; set it again"
	case llm.ClassQuota:
		e.Hint = "look at the plan and the balance at the provider"
	case llm.ClassContext:
		e.Hint = "make the conversation shorter, or take a model with a longer context"
	case llm.ClassCaller:
		if f.Status == http.StatusNotFound || f.Status == http.StatusMethodNotAllowed || f.Status/100 == 3 {
			e.Hint = "is the baseURL of the provider the right one?"
		}
	}
	return e
}

// classPhrases are phrases that decide about a class before the status does; the first match wins that fitsStatus allows. Parts
// joined by "+" must all be present.
var classPhrases = []struct {
	class llm.Class
	words []string
}{
	{llm.ClassRegion, []string{
		"unsupported_country", "country+not supported", "location is not supported", "region is not supported",
		"not available in your region", "not available in your country",
	}},
	{llm.ClassCredential, []string{
		"invalid_api_key", "authentication_error", "api_key_invalid", "api key not valid", "incorrect api key", "invalid api key",
		"invalid x-api-key", "api key expired", "no auth credentials", "user not found+cookie", "unregistered callers", "reported as leaked",
	}},
	{llm.ClassNoTools, []string{
		"does not support tools", "does not support function", "does not support tool", "tools are not supported", "tools is not supported",
		"tool use is not supported", "tool calling is not supported", "function calling is not supported", "function calling is not enabled",
		"support tool use", "requires --enable-auto-tool-choice", "tools param requires --jinja",
	}},
	{llm.ClassContext, []string{
		"context_length_exceeded", "exceed_context_size", "maximum context length", "prompt is too long", "context window", "exceeds the context",
		"context length exceeded", "exceed context limit", "input token count+exceeds", "exceeds the available context", "greater than the context length",
		"maximum prompt length", "exceeds the maximum number of tokens", "reduce the length of the messages", "input length and `max_tokens` exceed",
		"input is too long", "exceeded model token limit",
	}},
	{llm.ClassQuota, []string{
		"insufficient_quota", "billing_hard_limit", "billing_error", "billing_not_active", "insufficient_balance", "insufficient balance", "credit balance",
		"insufficient credits", "requires more credits", "out of credits", "purchase credits", "used all available credits", "spending limit", "payment required",
		"resource_exhausted+perday", "check your plan and billing+limit: 0",
	}},
	{llm.ClassModelAccess, []string{
		"model_not_found", "model_not_available", "does not have access to model", "model+does not exist", "is not found for api version",
		"try pulling it", "not a valid model id", "unknown model", "model not found", "no such model", "deployment+does not exist",
	}},
	{llm.ClassOverloaded, []string{"overloaded_error"}},
	{llm.ClassRateLimit, []string{
		"rate_limit", "rate limit", "too many requests", "resource_exhausted", "throttl", "tokens per min", "requests per min",
	}},
}

// classOf looks for known phrases first, then decides by the status.
func (f failure) classOf(words string, namesModel bool) llm.Class {
	for _, s := range classPhrases {
		for _, sign := range s.words {
			if containsAll(words, sign) && fitsStatus(s.class, f.Status) {
				return s.class
			}
		}
	}
	switch s := f.Status; {
	case s == http.StatusTooManyRequests:
		return llm.ClassRateLimit
	case s == statusOverloaded:
		return llm.ClassOverloaded
	case s == http.StatusPaymentRequired:
		return llm.ClassQuota
	case s == http.StatusUnauthorized:
		return llm.ClassCredential
	case (s == http.StatusForbidden || s == http.StatusNotFound) && namesModel,
		s == http.StatusNotFound && containsAll(words, "not_found_error+model"):
		return llm.ClassModelAccess
	case s == http.StatusForbidden:
		return llm.ClassPermission
	case s >= 500 || s == http.StatusRequestTimeout:
		return llm.ClassTransient
	case s >= 300:
		return llm.ClassCaller
	case containsAll(words, "server_error"), containsAll(words, "api_error"), containsAll(words, "internal"), containsAll(words, "overloaded"), containsAll(words, "timeout"), containsAll(words, "unavailable"):
		return llm.ClassTransient
	case containsAll(words, "permission_error"):
		return llm.ClassPermission
	case containsAll(words, "invalid_request"), containsAll(words, "invalid_argument"):
		return llm.ClassCaller
	}
	return llm.ClassUnknown
}

// statusOverloaded is the status of Anthropic for a provider without capacity, which net/http does not know.
const statusOverloaded = 529

// fitsStatus reports whether a phrase decides about a class although the response has this status, which is 0 if none is known.
func fitsStatus(c llm.Class, status int) bool {
	if c == llm.ClassContext { // a request too large for the limit of a minute speaks of the context too
		return status != http.StatusTooManyRequests
	}
	if c == llm.ClassRateLimit { // other refusals may mention limits
		return status >= 500 || slices.Contains([]int{0, 200, 400, 403, 429}, status)
	}
	return true
}

// containsAll reports whether all parts of sign, separated by "+", occur in words.
func containsAll(words, sign string) bool {
	for part := range strings.SplitSeq(sign, "+") {
		if !strings.Contains(words, part) {
			return false
		}
	}
	return true
}

// messageLimit is how much of a provider's message is kept, in bytes.
const messageLimit = 2 << 10

func truncateMessage(message string) string {
	if len(message) > messageLimit {
		message = message[:messageLimit] + "…"
	}
	return strings.ToValidUTF8(message, "\ufffd")
}

// excerpt shortens a body that is not an error of a known shape, for an error message.
func excerpt(body []byte) string {
	text := strings.Join(strings.Fields(string(body)), " ")
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return strings.ToValidUTF8(text, "\ufffd")
}
