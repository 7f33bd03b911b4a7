package web_test

import (
	"net/http"
	"testing"

	"collie/internal/face/web"
	"collie/internal/pipeline"
	"collie/internal/source"
	"collie/internal/tool"
)

// A list of providers that is unchanged is not sent again.
func TestProvidersHaveAnETag(t *testing.T) {
	t.Parallel()
	catalog := source.New(nil, source.Options{})
	t.Cleanup(catalog.Close)
	c := client{t, web.New(web.Options{
		Pipeline: pipeline.New(catalog, pipeline.Options{}), Providers: providers{},
		Identify: func(*http.Request) web.Identity {
			return web.Identity{Principal: "me", Origin: tool.Direct, Manage: true}
		},
	})}
	w, _ := c.do(200, "GET", "/providers", "")
	tag := w.Header().Get("ETag")
	if tag == "" {
		t.Fatal("there is none")
	}
	if w, _ := c.do(304, "GET", "/providers", "", "If-None-Match", tag); w.Body.Len() != 0 {
		t.Errorf("an unchanged list is sent: %s", w.Body)
	}
	c.do(200, "GET", "/providers", "", "If-None-Match", `"another"`)
}
