package web_test

import (
	"testing"
)

// Prompts are listed with the names of their servers and filled in by them; resources are read by their URI.
func TestPromptsAndResources(t *testing.T) {
	t.Parallel()
	c := newClientOfAllParts(t)
	_, list := c.do(200, "GET", "/prompts", "")
	if got := list.Get("prompts.0").Raw; got != `{"name":"s:greet","title":"Greet","arguments":[{"name":"who","required":true}]}` {
		t.Errorf("listed as %s", got)
	}
	if _, got := c.do(200, "POST", "/prompts", `{"name":"s:greet","args":{"who":"me"}}`); got.Get("messages.0.content.text").String() != "greet" {
		t.Errorf("filled in: %s", got.Raw)
	}
	if _, got := c.do(200, "POST", "/resources", `{"uri":"s://a"}`); got.Get("contents.0.text").String() != "contents of s://a" {
		t.Errorf("read: %s", got.Raw)
	}
	for path, body := range map[string]string{
		"/prompts": `{"name":"s:other"}`, "/resources": `{"uri":"s://b"}`,
	} {
		if _, got := c.do(404, "POST", path, body); got.Get("error.type").String() != "not_found" {
			t.Errorf("%s: %s", path, got.Raw)
		}
	}
	if _, got := c.do(400, "POST", "/prompts", `{"prompt":"s:greet"}`); got.Get("error.message").String() == "" {
		t.Errorf("a misspelt member: %s", got.Raw)
	}
}
