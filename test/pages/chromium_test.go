//go:build stories && linux

package pages_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"collie/test/await"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// story is a gateway with a model that follows a script, and a Chromium that shows its pages. A test acts and looks
// through its methods.
type story struct {
	*testing.T
	programs gateway.Programs
	settings string
	sections []string // of the settings
	user     string   // the HOME of the person, in which other programs keep their files
	gateway  *gateway.Gateway
	model    *provider.Server
	tab      context.Context //nolint:containedctx // it is the tab

	mu        sync.Mutex
	moreHosts []string // hosts that the page may ask besides that of the gateway
	strange   []string // requests to other hosts, warnings and exceptions
	missing   []string // why requests failed, also those that the page cancelled
}

// startStory starts a gateway whose model says these turns, and opens Chromium, which is not signed in.
func startStory(t *testing.T, turns ...provider.Turn) *story {
	t.Helper()
	return startStoryOf(t, provider.Conversation{Turns: turns})
}

// startStoryOf is startStory with a model that chooses a conversation by the prompt.
func startStoryOf(t *testing.T, conversations ...provider.Conversation) *story {
	t.Helper()
	fake, err := provider.New(provider.Script{Conversations: conversations}, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(fake)
	t.Cleanup(func() {
		at.CloseClientConnections()
		at.Close()
	})
	s := &story{T: t, programs: gateway.LinkPrograms(t), model: fake}
	s.user = t.TempDir()
	s.programs.Env = []string{"HOME=" + s.user}
	s.sections = []string{`"siyuan":{}`, `"secrets":{"store":"file"}`, `"agent":{"model":"fake/m"}`, fmt.Sprintf(`"providers":{"fake":{"kind":"openai","baseURL":%q,"keys":[{"label":"a","secret":"x"}]}}`, at.URL+"/v1")}
	s.settings = s.programs.Settings(t, nil, s.sections...)
	s.gateway = s.programs.Serve(t, s.settings)
	s.openChromium()
	if err := chromedp.Listen(s.tab, s.recordEvent); err != nil {
		t.Fatal(err)
	}
	return s
}

// openChromium opens Chromium.
func (s *story) openChromium() {
	s.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		s.Fatal("install chromium and fonts-noto-cjk")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.UserDataDir(filepath.Join(s.TempDir(), "chromium")),
		chromedp.Flag("lang", "en"), chromedp.Flag("ignore-certificate-errors", true), chromedp.WindowSize(1200, 800),
		chromedp.Env("LC_ALL=C.UTF-8")) // without a locale it opens no file with a Chinese name
	all, end := chromedp.NewExecAllocator(context.Background(), options...)
	s.Cleanup(end)
	s.tab, end = chromedp.NewContext(all)
	s.Cleanup(func() {
		if s.Failed() {
			text, err := chromedp.Run(s.tab, chromedp.Evaluate[string](`document.body.innerText`))
			s.Logf("on the page (%v):\n%s", err, text)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.Logf("what it did that it should not: %q; what did not load: %q", s.strange, s.missing)
		}
		end()
	})
}

// setServers writes settings with these MCP servers, which the running gateway takes up.
func (s *story) setServers(list ...gateway.Server) {
	s.Helper()
	s.programs.SettingsAt(s, s.settings, list, s.sections...)
}

// recordEvent records what the page must not do: ask other hosts, warn in the console, or throw. It also records which
// requests failed.
func (s *story) recordEvent(event any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if to, err := url.Parse(e.Request.URL); err != nil || to.Scheme != "data" && "http://"+to.Host != s.gateway.URL && !slices.Contains(s.moreHosts, to.Host) {
			s.strange = append(s.strange, e.Request.URL)
		}
	case *network.EventLoadingFailed:
		s.missing = append(s.missing, string(e.Type)+": "+e.ErrorText)
	case *runtime.EventConsoleAPICalled:
		for _, arg := range e.Args {
			if e.Type == "warning" {
				s.strange = append(s.strange, "console: "+string(arg.Value))
			}
		}
	case *runtime.EventExceptionThrown:
		s.strange = append(s.strange, e.ExceptionDetails.Text)
	}
}

// wantCleanPage fails the test if the page has asked another host, warned in the console, or thrown.
func (s *story) wantCleanPage() {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.strange {
		s.Errorf("the page did what it should not: %s", one)
	}
}

// perform performs actions in the tab.
func (s *story) perform(actions ...chromedp.Action[chromedp.Void]) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.tab, await.Limit)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		s.Fatal(err)
	}
}

// eval returns the value of an expression in the page.
func (s *story) eval(expression string) any {
	s.Helper()
	v, err := chromedp.Run(s.tab, chromedp.Evaluate[any](expression))
	if err != nil {
		s.Fatalf("%s: %v", expression, err)
	}
	return v
}

// runBeforePages makes every page that is loaded from then on run script before its own scripts.
func (s *story) runBeforePages(script string) {
	s.Helper()
	s.perform(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// awaitTrue waits until an expression is true in the page.
func (s *story) awaitTrue(expression string) {
	s.Helper()
	await.Until(s, expression, func() bool {
		ok, err := chromedp.Run(s.tab, chromedp.Evaluate[bool](`!!(`+expression+`)`))
		return ok && err == nil // there is an error while the page is being loaded
	}, func() string {
		return fmt.Sprint(s.eval(`document.body.innerText`))
	})
}

// textOf returns an expression for the text of all elements that match a selector.
func textOf(selector string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.innerText).join('\n')`, selector)
}

// awaitText waits until the elements that match a selector contain a text.
func (s *story) awaitText(selector, want string) {
	s.Helper()
	quoted, _ := json.Marshal(want)
	s.awaitTrue(textOf(selector) + `.includes(` + string(quoted) + `)`)
}

// click presses the first enabled button, link or summary whose label begins with name, inside the elements that
// match within.
func (s *story) click(within, name string) {
	s.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('%s button, %[1]s a, %[1]s summary')].find(e => (e.ariaLabel || e.innerText).trim().startsWith(%q) && !e.disabled)`, within, name)
	s.clickElement(find)
}

// clickElement clicks the element that an expression returns, once it is there and enabled.
func (s *story) clickElement(element string) {
	s.Helper()
	s.awaitTrue(`(e => e && !e.disabled)(` + element + `)`)
	s.eval(element + `.click(); 0`)
}

// signIn opens the pages with a new link and waits until they are signed in.
func (s *story) signIn() {
	s.Helper()
	s.perform(chromedp.Navigate(s.gateway.URL + "/pages/#link=" + makeSignInLink(s.T, s.gateway)))
	s.awaitTrue(`document.querySelector('.composer textarea')`)
}

// sendMessage puts a message into the composer and sends it with Enter.
func (s *story) sendMessage(message string) {
	s.Helper()
	s.setField(".composer textarea", message)
	s.perform(chromedp.KeyEvent("\r"))
}

// setField sets the text of a field, as pasting does.
func (s *story) setField(field, text string) {
	s.Helper()
	quoted, _ := json.Marshal(text)
	s.awaitTrue(fmt.Sprintf(`document.querySelector(%q)`, field))
	s.eval(fmt.Sprintf(`(e => { e.focus(); e.value = %s; e.dispatchEvent(new Event('input', { bubbles: true })) })(document.querySelector(%q))`, quoted, field))
}

// restartGateway restarts the gateway at the same address.
func (s *story) restartGateway() {
	s.Helper()
	s.gateway.Signal(terminate)
	if code := s.gateway.ExitCode(); code != 0 {
		s.Fatalf("serve ended with %d", code)
	}
	s.gateway = s.programs.ServeIn(s.T, s.gateway.Home, s.settings, "--http", strings.TrimPrefix(s.gateway.URL, "http://"))
}

// shots is the folder for the pictures that takePicture takes.
var shots = flag.String("shots", "", "put pictures of the pages into this `folder`")

// takePicture takes a picture of the page for people, if the flag -shots is given.
func (s *story) takePicture(name string) {
	s.Helper()
	if *shots == "" {
		return
	}
	png, err := chromedp.Run(s.tab, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o600)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// pace is the time between the pieces of an answer that is to grow slowly.
const pace = provider.Duration(20 * time.Millisecond)
