package tokens_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/face/web"
)

// secretTalk is a conversation to import.
const secretTalk = `{"format":"collie.session","version":1,"session":{"title":"Birthday of Ada","config":{}},"messages":[
	{"id":"m1","parentId":"","role":"user","status":"complete","parts":[{"type":"text","text":"a surprise party 生日"}],"createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"}]}`

// A token that is bound to a profile has access to the conversations of that profile. It learns nothing of all
// others, whatever it asks.
func TestConversationsOfAProfile(t *testing.T) {
	t.Parallel()
	w := startWorld(t)
	_, control, _ := w.gateway.Keys(t)
	bound := w.runToken("add", "bound", "--scope", "chat", "--profile", "reads")
	w.awaitStatus(http.StatusForbidden, bound)
	const api = "/api/v1"
	post := func(token, path, body string) gjson.Result {
		t.Helper()
		status, _, answer := w.send(http.MethodPost, api+path, token, "", body)
		if status >= 300 {
			t.Fatalf("%s: %d %s", path, status, answer)
		}
		return gjson.Parse(answer)
	}
	theirs := post(control, "/sessions/import", secretTalk).Get("id").String()
	own := post(bound, "/sessions/import", strings.ReplaceAll(secretTalk, "Ada", "me")).Get("id").String()
	blob := post(control, "/blobs?session="+theirs+"&name=cake.txt", `{"candles":7}`).Get("sha256").String()
	message := func(session string) string {
		_, _, answer := w.send(http.MethodGet, api+"/sessions/"+session, control, "", "")
		return gjson.Get(answer, "path.#(role==user).id").String()
	}

	for _, r := range web.Routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		id := map[bool]string{true: message(theirs), false: theirs}[strings.Contains(path, "/messages/")]
		filled := strings.NewReplacer("{id}", id, "{sha256}", blob).Replace(path)
		switch {
		case r.Class != web.ClassChat || strings.Contains(path, "/turns/{id}"): // there are no turns without a model
			continue
		case strings.HasSuffix(path, "/blobs"):
			filled += "?session=" + theirs
		case filled == path:
			continue
		}
		body := map[bool]string{true: "{}"}[method != http.MethodGet]
		if status, _, answer := w.send(method, filled, bound, "", body); status != http.StatusNotFound || strings.Contains(answer, "Ada") {
			t.Errorf("%s of a conversation of others: %d %.300s", r.Pattern, status, answer)
		}
	}
	for _, question := range []string{"/sessions", "/sessions?q=party", "/search?q=party", "/search?q=%E7%94%9F", "/search?q=%E7%94%9F%E6%97%A5", "/usage"} {
		_, _, all := w.send(http.MethodGet, api+question, control, "", "")
		_, _, some := w.send(http.MethodGet, api+question, bound, "", "")
		if question != "/usage" && (!strings.Contains(all, theirs) || !strings.Contains(some, own)) || strings.Contains(some, theirs) {
			t.Errorf("%s: a person gets %s\nthe token %s", question, all, some)
		}
	}
	if status, _, answer := w.send(http.MethodGet, api+"/sessions/"+own, bound, "", ""); status != http.StatusOK || gjson.Get(answer, "config.profile").String() != "reads" {
		t.Errorf("the token's own conversation: %d %s", status, answer)
	}
	if status, _, answer := w.send(http.MethodGet, api+"/blobs/"+blob, control, "", ""); status != http.StatusOK || !strings.Contains(answer, "candles") {
		t.Errorf("the attachment, for its person: %d %s", status, answer)
	}

	events := w.openStream(api+"/events?kinds=session", bound)
	for _, session := range []string{theirs, own} {
		if status, _, answer := w.send(http.MethodPatch, api+"/sessions/"+session, control, "", `{"pinned":true}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
	}
	for line := range events {
		if strings.Contains(line, theirs) {
			t.Fatalf("the token is told %s", line)
		}
		if strings.Contains(line, own) {
			return
		}
	}
	t.Error("the token is not told of its own conversation")
}

// openStream opens an event stream and returns its lines after the first.
func (w *world) openStream(path, token string) <-chan string {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), limit)
	w.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.gateway.URL+path, http.NoBody)
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.Fatal(err, resp.Status)
	}
	w.Cleanup(func() { _ = resp.Body.Close() })
	lines := make(chan string, 100)
	in := bufio.NewScanner(resp.Body)
	in.Scan() // the stream is open
	go func() {
		defer close(lines)
		for in.Scan() {
			lines <- in.Text()
		}
	}()
	return lines
}
