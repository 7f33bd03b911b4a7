package acceptance_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/await"
)

// TestPeopleElsewhereAreNotified checks that a call that waits for a person is announced at the address in guard.notify,
// without its arguments. The gateway applies a new address while it runs, and keeps the old one if the new one is wrong.
func TestPeopleElsewhereAreNotified(t *testing.T) {
	t.Parallel()
	got := make(chan string, 16)
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- r.Header.Get("X-Key") + " " + string(raw)
	}))
	t.Cleanup(at.Close)
	w := newWorld(t)
	w.File(ownFolder+configFile, []byte(allOn))
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("open sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := func(url string) []string {
		return []string{w.siyuanSection(w.URL()), `"guard":{"notify":{"url":"` + url + `","headers":{"X-Key":"file:` + key + `"}}}`}
	}
	w.settings = w.Settings(t, nil, w.siyuanSection(w.URL()))
	g := w.Serve(t, w.settings)
	g.AwaitReady(t)
	s := newKeyedGateway(t, g)
	askForCode := func(path string) string {
		call := `"name":"fs","arguments":{"action":"rm","path":"` + path + `"}`
		code, ok := strings.CutPrefix(outcomeOf(s.callModern(t, s.token, "editor", `{}`, call, "Mcp-Name", "fs")), "code ")
		if !ok {
			t.Fatalf("no code but %s", code)
		}
		return code
	}
	askForCode("/Work/Plan") // no notification has been sent yet
	w.SettingsAt(t, w.settings, nil, settings(at.URL)...)
	slashes := "/Work/Plan/" // each makes another call
	await.Until(t, "the address is taken up", func() bool {
		slashes += "/"
		askForCode(slashes)
		return len(got) > 0
	})
	nextNotification := func(word string) (head, body string) { // an earlier notification may arrive late
		for !strings.Contains(body, word) {
			head, body, _ = strings.Cut(<-got, " {")
		}
		return head, body
	}
	waitingCode := askForCode("/Work/Plan/Budget")
	if again := askForCode("/Work/Plan/Budget"); again != waitingCode {
		t.Errorf("the same call waits under %s and %s", waitingCode, again)
	}
	head, body := nextNotification(waitingCode)
	told := gjson.Parse("{" + body)
	if head != "open sesame" || told.Get("tool").String() != "fs.rm" || told.Get("answer").String() != "collie confirm "+waitingCode ||
		!strings.HasPrefix(told.Get("client").String(), "editor") || told.Get("risk").String() != "high" {
		t.Errorf("%s {%s", head, body)
	}
	for _, word := range []string{"Budget", "Plan", "path", s.token} {
		if strings.Contains(body, word) {
			t.Errorf("it tells %q: %s", word, body)
		}
	}
	out, errs, exit := w.Run(t, s.Home, "--config", w.settings, "guard", "notify")
	if _, body := nextNotification("this is a test"); exit != 0 || !strings.Contains(out, "sent") {
		t.Errorf("on trial: exit %d, %s%s, told {%s", exit, out, errs, body)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	out, errs, exit = w.Run(t, s.Home, "--config", w.settings, "guard", "notify")
	if exit != 1 || !strings.Contains(out, "no such file") || strings.Contains(out+errs, "sesame") {
		t.Errorf("without the key: exit %d, %s%s", exit, out, errs)
	}
	if err := os.WriteFile(key, []byte("open sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.SettingsAt(t, w.settings, nil, settings("http://ntfy.example.org/x")...)
	await.Until(t, "a line about the wrong address", func() bool { return strings.Contains(g.Stderr(), "use https") })
	waitingCode = askForCode("/Work/Plan/Budget/")
	nextNotification(waitingCode) // at the old address
}
