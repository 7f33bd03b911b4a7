//go:build stories && linux

package pages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/test/await"
)

// siyuanWindow is a stand-in for SiYuan's window, with what the plugin of Collie uses of it. It has the origin of the
// kernel of tests.
type siyuanWindow struct {
	*story
	kernel *kerneltest.Kernel
	url    string

	mu     sync.Mutex
	frames map[string]runtime.ExecutionContextID // the newest frame of each origin
}

// windowPage is the page of the window; its language, theme and colours are filled in.
const windowPage = `<!doctype html><html lang=%q data-theme-mode=%q><head><meta charset="utf-8"><style>
	body { margin: 0; height: 100vh; display: flex; font: 14px sans-serif; background: %s; color: %s } main { flex: 1; padding: 24px } #dock { border-left: 1px solid #8884; height: 100vh }
</style></head><body><main><h1>SiYuan</h1><p>A stand-in for its window.</p></main><div id="dock"></div>
<script>window.siyuan = { config: { lang: %[1]q, appearance: { mode: 0 } } }</script><script type="module" src="/window.js"></script></body></html>`

// startInWindow starts a gateway that works in the workspace of a kernel of tests and records its calls there, and returns
// the window of that kernel.
func startInWindow(t *testing.T) *siyuanWindow {
	t.Helper()
	s := startStory(t)
	w := &siyuanWindow{story: s, kernel: kerneltest.New(t), frames: map[string]runtime.ExecutionContextID{}}
	w.kernel.Lenient() // a browser also asks for icons, and its requests lack the headers of our client
	script, err := os.ReadFile("../../web/panel/window.js")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(rw http.ResponseWriter, r *http.Request) {
		lang, theme, back, text := "en", "light", "#fff", "#222"
		if r.URL.Query().Has("zh") {
			lang = "zh-CN"
		}
		if r.URL.Query().Has("dark") {
			theme, back, text = "dark", "#1e1e1e", "#ddd"
		}
		fmt.Fprintf(rw, windowPage, lang, theme, back, text)
	})
	mux.HandleFunc("GET /window.js", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/javascript")
		_, _ = rw.Write(script)
	})
	mux.Handle("/api/", w.kernel)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	w.url = server.URL
	at, _ := url.Parse(w.url)
	s.moreHosts = append(s.moreHosts, at.Host)
	s.sections[0] = fmt.Sprintf(`"siyuan":{"mascot":{"sync":true},"connections":{"w":{"url":%q}},"current":"w"}`, w.url)
	s.setServers() // which writes the sections anew, too; the running gateway takes them up
	if err := chromedp.Listen(s.tab, func(event any) {
		if e, ok := event.(*runtime.EventExecutionContextCreated); ok {
			w.mu.Lock()
			w.frames[e.Context.Origin] = e.Context.ID
			w.mu.Unlock()
		}
	}); err != nil {
		t.Fatal(err)
	}
	return w
}

// installPanel runs `collie siyuan panel install` with the gateway's settings.
func (w *siyuanWindow) installPanel(args ...string) {
	w.Helper()
	stdout, stderr, code := w.programs.Run(w, w.gateway.Home, append([]string{"siyuan", "panel", "install", "--config", w.settings}, args...)...)
	if code != 0 || !strings.Contains(stdout, "/data/plugins/collie-panel/index.js") {
		w.Fatalf("install: %d\n%s%s", code, stdout, stderr)
	}
}

// evalInFrame evaluates an expression in the frame of an origin. It returns nil if there is no such frame yet, or if it is
// loading.
func (w *siyuanWindow) evalInFrame(origin, expression string) any {
	w.mu.Lock()
	id, known := w.frames[origin]
	w.mu.Unlock()
	if !known {
		return nil
	}
	var value any
	yes := true
	_ = chromedp.Do(w.tab, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error { // an error means that the frame is loading
		got, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, ContextID: id, ReturnByValue: &yes})
		if err != nil || got.Result == nil {
			return err
		}
		return json.Unmarshal(got.Result.Value, &value)
	}))
	return value
}

// awaitTrueInFrame waits until an expression is true in the frame with the pages of the gateway.
func (w *siyuanWindow) awaitTrueInFrame(expression string) {
	w.Helper()
	await.Until(w, expression, func() bool { return w.evalInFrame(w.gateway.URL, `!!(`+expression+`)`) == true }, func() string {
		return fmt.Sprint(w.evalInFrame(w.gateway.URL, `location.href + '\n' + document.body.innerText`))
	})
}

// awaitPuppyInWindow waits until the puppy in the window shows a state.
func (w *siyuanWindow) awaitPuppyInWindow(state string) {
	w.Helper()
	w.awaitTrue(fmt.Sprintf(`document.querySelector('.collie-puppy .drawing')?.dataset.doing === %q`, state))
}

// The dock of the window shows pages of Collie once a person has signed in there. Levels can be changed there, but
// the gateway refuses answers to questions, calls, and management of browsers and servers from the frame.
func TestPanelInSiYuan(t *testing.T) {
	t.Parallel()
	w := startInWindow(t)
	notebook := w.kernel.Notebook("工作")
	w.installPanel()
	w.perform(chromedp.Navigate(w.url + "/"))
	w.awaitTrueInFrame(`document.body.innerText.includes('collie open --show')`)
	w.takePicture("panel-signin")
	w.awaitTrueInFrame(fmt.Sprintf(`(e => { e.value = %q; e.dispatchEvent(new Event('input', { bubbles: true })); return true })(document.querySelector('.signin input'))`, w.gateway.URL+"/pages/#link="+makeSignInLink(t, w.gateway)))
	w.awaitTrueInFrame(`(document.querySelector('.signin form button').click(), true)`)
	w.awaitTrueInFrame(`[...document.querySelectorAll('nav a')].map(a => a.innerText.trim()).join() === 'Tools,Notebooks,Settings'`)
	w.awaitTrueInFrame(`document.body.innerText.includes('flashcard')`)
	w.takePicture("panel-tools")

	// A level can be lowered with a click. Raising it requires the name of the notebook, as on all pages.
	w.awaitTrueInFrame(`(location.hash = '#/notebooks', true)`)
	w.awaitTrueInFrame(`document.body.innerText.includes('工作')`)
	w.takePicture("panel-levels")
	status := w.evalInFrame(w.gateway.URL, `(x => (x.open('GET', '/api/v1/notes/levels', false), x.setRequestHeader('Collie-Browser-Key', localStorage['collie.browser.key']), x.setRequestHeader('Collie-Panel', '1'), x.send(), x.status))(new XMLHttpRequest())`)
	if status != float64(http.StatusOK) {
		t.Errorf("levels: %v", status)
	}
	post := func(path, body string) string {
		return fmt.Sprintf(`(x => (x.open('POST', '/api/v1%s', false), x.setRequestHeader('Collie-Browser-Key', localStorage['collie.browser.key']), x.setRequestHeader('Content-Type', 'application/json'), x.setRequestHeader('Collie-Panel', '1'), x.send(%q), x.status + x.responseText))(new XMLHttpRequest())`, path, body)
	}
	if got := fmt.Sprint(w.evalInFrame(w.gateway.URL, post("/notes/levels", fmt.Sprintf(`{"notebook":%q,"level":"none"}`, notebook)))); !strings.HasPrefix(got, "200") {
		t.Errorf("lowering a level: %s", got)
	}
	if got := fmt.Sprint(w.evalInFrame(w.gateway.URL, post("/notes/levels", fmt.Sprintf(`{"notebook":%q,"level":"rwd"}`, notebook)))); !strings.Contains(got, "工作") || strings.HasPrefix(got, "200") {
		t.Errorf("raising a level without the name: %s", got)
	}
	for _, path := range []string{"/questions/x", "/calls", "/browsers/links", "/mcp/servers/x/start"} {
		if got := fmt.Sprint(w.evalInFrame(w.gateway.URL, post(path, "{}"))); !strings.HasPrefix(got, "403") || !strings.Contains(got, "in_a_frame") {
			t.Errorf("%s from a frame: %s", path, got)
		}
	}
	w.awaitTrueInFrame(`(location.hash = '#/settings', true)`)
	w.awaitTrueInFrame(`document.querySelector('[data-setting="guard.mode"] input')?.readOnly && document.querySelector('[data-setting="context.view"] select')`)
	w.takePicture("panel-settings")
	w.perform(chromedp.Navigate(w.url + "/?zh&dark"))
	w.awaitTrue(`document.querySelector('#dock footer').innerText.includes('显示小狗')`)
	w.awaitTrueInFrame(`document.documentElement.dataset.theme === 'dark' && [...document.querySelectorAll('nav a')].some(a => a.innerText.trim() === '笔记本')`)
	w.takePicture("panel-dark-chinese")
	w.wantCleanPage()
}

// A page of another origin can frame neither the panel nor the full pages. The window can frame the panel until
// `collie siyuan panel remove`.
func TestPanelStaysInItsWindow(t *testing.T) {
	t.Parallel()
	w := startInWindow(t)
	w.installPanel()
	foreign := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(rw, `<!doctype html><iframe src=%q></iframe><iframe src=%q></iframe>`, w.gateway.URL+"/pages/panel", w.gateway.URL+"/pages/")
	}))
	defer foreign.Close()
	at, _ := url.Parse(foreign.URL)
	w.moreHosts = append(w.moreHosts, at.Host)
	framed := func() bool {
		return w.evalInFrame(w.gateway.URL, `location.origin`) == w.gateway.URL
	}
	w.perform(chromedp.Navigate(foreign.URL))
	w.awaitTrue(`document.readyState === 'complete'`)
	if framed() {
		t.Error("a page of another origin shows the panel")
	}
	w.perform(chromedp.Navigate(w.url + "/"))
	w.awaitTrueInFrame(`document.querySelector('.signin')`)

	w.perform(chromedp.Navigate("about:blank"))
	stdout, stderr, code := w.programs.Run(t, w.gateway.Home, "siyuan", "panel", "remove", "--config", w.settings)
	if code != 0 {
		t.Fatalf("remove: %d %s%s", code, stdout, stderr)
	}
	resp, err := http.Get(w.gateway.URL + "/pages/panel")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || resp.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("after the removal: %s", csp)
	}
}

// If the window cannot show the panel it says why: no gateway answers, or the settings name another origin.
func TestPanelSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := startInWindow(t)
	w.installPanel("--address", "http://127.0.0.1:1")
	w.perform(chromedp.Navigate(w.url + "/"))
	w.awaitText(".collie-frame", "Collie does not answer at http://127.0.0.1:1")
	w.takePicture("panel-nobody")
	w.perform(chromedp.Navigate(strings.Replace(w.url, "127.0.0.1", "localhost", 1) + "/?zh"))
	w.awaitText(".collie-frame", "web.frameOrigins")
}

// dragPuppyInWindow drags the puppy, which wants an answer, presses it by key, as a click without a pointer does, and clicks
// it: the last two open the pages. The end of a drag is not a click, because the drawing that was pressed is replaced.
func (w *siyuanWindow) dragPuppyInWindow() {
	w.Helper()
	w.eval(`window.opened = 0; window.clicks = 0; window.open = () => { window.opened++ }
		document.querySelector('.collie-puppy button').addEventListener('click', () => window.clicks++); 0`)
	at := w.eval(`(b => [b.x + b.width / 2, b.y + b.height / 2])(document.querySelector('.collie-puppy').getBoundingClientRect())`).([]any)
	x, y := at[0].(float64), at[1].(float64)
	w.perform(chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	for _, moved := range []float64{10, 60, 90} {
		w.perform(chromedp.MouseEvent(chromedp.MouseMoved, x-moved, y-moved, chromedp.ButtonLeft))
	}
	w.perform(chromedp.MouseEvent(chromedp.MouseReleased, x-90, y-90, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	w.eval(`document.querySelector('.collie-puppy button').click(); 0`)
	w.perform(chromedp.MouseClickXY(x-90, y-90))
	w.awaitTrue(`window.opened >= 2`)
	if clicks, opened := w.eval(`window.clicks`), w.eval(`window.opened`); clicks != 2.0 || opened != 2.0 {
		w.Errorf("%v clicks, of which %v opened the pages; want 2 and 2", clicks, opened)
	}
}

// The puppy in the window follows the file that the gateway writes for calls of notes tools, and shows the states
// that its test mode sets. Invalid or hostile content of the file does no harm.
func TestPuppyInSiYuan(t *testing.T) {
	t.Parallel()
	w := startInWindow(t)
	w.kernel.Notebook("工作")
	w.installPanel()
	w.perform(chromedp.Navigate(w.url + "/"))
	w.awaitPuppyInWindow("idle")
	w.awaitTrue(`document.querySelector('#dock footer')`)
	const file = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/puppyEvents.json"
	// The window asks for two files of the plugin. After that the puppy looks for its own file, so that with a second look the
	// answer to the first one has come: there is no file.
	w.awaitTrue(`performance.getEntriesByType('resource').filter(e => e.name.endsWith('/api/file/getFile')).length > 3`)
	w.kernel.File(file, []byte(`{"seq":1,"tool":"fs","action":"read","status":"running"}`))
	w.awaitPuppyInWindow("reading") // the first event of a workspace is shown
	w.kernel.File(file, []byte(`{"seq":2,"tool":"fs","action":"read","status":"error"}`))
	w.awaitPuppyInWindow("idle") // once the time has passed for which an error is shown
	w.eval(`window.shown = []; new MutationObserver(() => { const now = document.querySelector('.collie-puppy .drawing')?.dataset.doing; if (now && now !== shown.at(-1)) shown.push(now) }).observe(document.body, { subtree: true, childList: true }); 0`)
	await.Until(t, "a call of a notes tool is shown", func() bool {
		w.programs.Run(t, w.gateway.Home, "fs", "ls", "/", "--config", w.settings)
		return w.eval(`shown.includes('success')`) == true
	}, func() string {
		stdout, stderr, code := w.programs.Run(t, w.gateway.Home, "fs", "ls", "/", "--config", w.settings)
		return fmt.Sprint(code, stdout, stderr, w.eval(`shown.join()`))
	})
	w.awaitTrue(`shown.at(-1) === 'idle'`)

	for i, one := range []struct{ event, doing string }{
		{`{"seq":%d,"tool":"fs","action":"read","status":"running"}`, "reading"},
		{`{"seq":%d,"tool":"document","action":"create","status":"running","class":"write"}`, "writing"},
		{`[{"seq":1,"tool":"fs","action":"read","status":"error"},{"seq":%d,"tool":"fs","action":"rename","status":"running"}]`, "moving"},
		{`{"seq":%d,"tool":"block","action":"x","status":"running","class":"remove"}`, "deleting"},
		{`{"seq":%d,"tool":"notebook","action":"remove","status":"running","class":"remove","dangerous":true}`, "dangerous"},
		{`{"seq":%d,"tool":"notebook","action":"remove","status":"error"}`, "error"},
		{`{"seq":%d,"tool":"<img src=x onerror=hacked=1>","action":"read","status":"success"}`, "success"},
	} {
		w.kernel.File(file, fmt.Appendf(nil, one.event, int64(9e15)+int64(i)))
		w.awaitPuppyInWindow(one.doing)
		w.takePicture("panel-puppy-" + one.doing)
		if one.doing == "dangerous" {
			w.dragPuppyInWindow()
		}
	}
	for _, bad := range []string{`{`, `null`, `[]`, `{"seq":"x"}`, `"x"`, ``} {
		w.kernel.File(file, []byte(bad))
	}
	w.awaitPuppyInWindow("idle")
	if w.eval(`typeof hacked`) != "undefined" {
		t.Error("the name of a tool became markup")
	}
	for _, doing := range []string{"dangerous", "writing"} {
		w.eval(fmt.Sprintf(`(e => { e.value = %q; e.dispatchEvent(new Event('change')) })(document.querySelector('#dock select')); 0`, doing))
		w.awaitPuppyInWindow(doing)
		w.takePicture("panel-test-" + doing)
	}
	w.clickElement(`document.querySelector('#dock footer input')`)
	w.awaitTrue(`document.querySelector('.collie-puppy').hidden`)
	w.eval(`plugin.onunload(); 0`)
	w.awaitTrue(`!document.querySelector('.collie-puppy')`)
	w.wantCleanPage()
}
