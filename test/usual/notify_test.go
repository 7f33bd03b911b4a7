package usual_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// A person who does not answer a question of a conversation is notified once at the address in the settings, in the
// format of ntfy: with the tool and where to answer, and nothing else of the call. A person who answers at once is
// not notified.
func TestToldOfAConversation(t *testing.T) {
	got := make(chan string, 8)
	at := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- fmt.Sprintln(r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Title"), string(raw))
	}))
	t.Cleanup(at.Close)
	c, session := newMoving(t, 3, fmt.Sprintf(`,"guard":{"notify":{"url":%q,"format":"text","headers":{"Authorization":"Bearer sesame"}}}`, at.URL+"/topic"))
	if _, results := c.say(t, session, "move what is in my Box", agreeWithGrant("once", "")); !oneCallSucceeded(results) {
		t.Fatalf("%v", results)
	}
	told := ""
	_, results := c.say(t, session, "move it", func(id int64, q gjson.Result) []string {
		select {
		case told = <-got:
		case <-t.Context().Done():
		}
		return agreeWithGrant("session", "notebook")(id, q)
	})
	if !oneCallSucceeded(results) || !strings.HasPrefix(told, "POST /topic Bearer sesame Collie asks you fs.mv") || !strings.Contains(told, "in the conversation that waits for you") {
		t.Errorf("%v, told %q", results, told)
	}
	for _, word := range []string{"Box", "Doc", "Moved", "move", session, c.Control(t)} {
		if strings.Contains(told, word) {
			t.Errorf("it tells %q: %s", word, told)
		}
	}
	if _, results := c.say(t, session, "move it", failIfAsked(t)); !oneCallSucceeded(results) || len(got) > 0 {
		t.Errorf("%v; %d notes beside the one question that waited", results, len(got))
	}
	if log := c.Stderr(); strings.Contains(log, "sesame") || strings.Contains(log, "not notified") {
		t.Errorf("the log: %s", log)
	}
}
