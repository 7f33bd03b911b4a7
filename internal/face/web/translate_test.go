package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Translated texts come back in the same order. A text that is too long is returned unchanged, and too many texts are refused.
func TestTranslations(t *testing.T) {
	t.Parallel()
	c := newClientOfAllParts(t)
	long := strings.Repeat("a", 8<<10+1)
	_, got := c.do(200, http.MethodPost, "/translations", fmt.Sprintf(`{"language":"zh","texts":["it runs","",%q,"it stopped"]}`, long))
	if want := fmt.Sprintf(`["zh it runs","zh ",%q,"zh it stopped"]`, long); got.Get("texts").Raw != want {
		t.Errorf("%.200s, want %.200s", got.Raw, want)
	}
	_, got = c.do(400, http.MethodPost, "/translations", `{"language":"zh","texts":["a"`+strings.Repeat(`,"a"`, 500)+`]}`)
	if message := got.Get("error.message").Str; message != "there are 501, the limit is 500" {
		t.Errorf("it says %q", message)
	}
}
