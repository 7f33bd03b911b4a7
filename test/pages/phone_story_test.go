//go:build stories && linux

package pages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/tidwall/gjson"
	"rsc.io/qr"

	"collie/test/await"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// A phone scans the code that a page shows. It signs in through a proxy with TLS, talks, and stays signed in when the
// gateway is restarted. If other machines cannot reach the gateway, the page says what to set.
func TestPhone(t *testing.T) {
	t.Parallel()
	s := startStory(t, provider.Turn{Say: "hello, phone"}, provider.Turn{Say: "still there"})
	s.signIn()
	s.click("header nav", "Permissions")
	s.awaitText("[data-phone=no]", "A phone cannot sign in yet")
	s.loadAxe()
	s.wantFitsScreens("phone-unreachable")

	to, err := url.Parse(s.gateway.URL)
	if err != nil {
		t.Fatal(err)
	}
	var logs atomic.Int32              // requests for logs
	connections := new(http.Transport) // of its own: those of other tests may lead to an earlier listener
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{Transport: connections, Rewrite: func(r *httputil.ProxyRequest) {
		if strings.Contains(r.In.URL.Path, "/logs") {
			logs.Add(1)
		}
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}})
	t.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
		connections.CloseIdleConnections()
	})
	s.allowHost(strings.TrimPrefix(proxy.URL, "https://"))
	s.click("header nav", "Settings")
	s.setField(`[data-setting="http.publicURL"] input`, "http://"+proxy.Listener.Addr().String())
	s.click(`[data-setting="http.publicURL"]`, "Save")
	s.awaitText(`[data-setting="http.publicURL"] [role=alert]`, "https")
	s.setField(`[data-setting="http.publicURL"] input`, proxy.URL)
	s.click(`[data-setting="http.publicURL"]`, "Save")
	s.awaitText(`[data-setting="http.publicURL"]`, "Saved.")
	s.setField(`[data-setting="http.trustedProxies"] textarea`, "127.0.0.1")
	s.click(`[data-setting="http.trustedProxies"]`, "Save")
	s.awaitText(`[data-setting="http.trustedProxies"]`, "Saved.")

	s.click("header nav", "Permissions")
	s.click("main", "Sign a phone in")
	s.awaitTrue(`document.querySelector('#qr path')`)
	address := s.eval(`document.querySelector('#link').innerText`).(string)
	if !strings.HasPrefix(address, proxy.URL+"/pages/#link=") {
		t.Fatalf("the phone is led to %s", address)
	}
	if got, want := s.eval(`document.querySelector('#qr path').getAttribute('d')`).(string), qrPath(t, address); got != want {
		t.Errorf("the code is not of %s", address)
	}
	s.wantFitsScreens("phone-code")

	// The tab becomes the phone: at another origin, it has other cookies and storage.
	s.perform(chromedp.EmulateViewport(360, 740), chromedp.Navigate(address))
	s.awaitTrue(`location.protocol === 'https:' && document.querySelector('.composer textarea')`)
	s.sendMessage("it is me")
	s.awaitText("article.assistant", "hello, phone")
	s.takePicture("phone")
	s.restartGateway()
	s.awaitTrue(`!document.querySelector('.bar')`)
	s.perform(chromedp.Reload())
	s.awaitTrue(`document.querySelector('.composer textarea')`)
	s.sendMessage("and now?")
	s.awaitText("article.assistant", "still there")
	s.perform(chromedp.Navigate("about:blank"), chromedp.Navigate(address))
	s.awaitTrue(`document.querySelector('.composer textarea')`) // the link is used up, but the phone is signed in

	// A page that follows a log goes on without an error if every connection breaks.
	s.sections = append(s.sections, fmt.Sprintf(`"http":{"publicURL":%q,"trustedProxies":["127.0.0.1"]}`, proxy.URL))
	s.setServers(gateway.Server{Name: "tea", Entry: fmt.Sprintf(`{"command":"sh","args":["-c","echo kettle >&2; exec \"$0\"",%q],"lifecycle":"eager"}`, s.programs.Fake)})
	s.eval(`location.hash = '#/servers/tea'; 0`)
	s.awaitText("[role=log]", "kettle")
	s.eval(`window.errors = 0; new MutationObserver(() => errors += document.querySelectorAll('.bar.problem').length).observe(document.body, { subtree: true, childList: true }); 0`)
	before := logs.Load()
	proxy.CloseClientConnections()
	await.Until(t, "the log is followed again", func() bool { return logs.Load() > before })
	s.awaitTrue(`!document.querySelector('.bar')`)
	if errors := s.eval(`errors`); errors != 0.0 {
		t.Errorf("%v errors are shown", errors)
	}

	// A browser on another machine is refused without TLS, even with a valid link.
	_, raw := s.gateway.Ask(t, http.MethodPost, "/browsers/links", `{"elsewhere":true}`)
	_, secret, _ := strings.Cut(gjson.GetBytes(raw, "address").String(), "link=")
	b := &browser{T: t, gateway: s.gateway}
	if got := b.sendForStatus(http.MethodPost, "/pages/session", fmt.Sprintf(`{"link":%q}`, secret), "X-Forwarded-For", "203.0.113.7"); got != http.StatusForbidden {
		t.Errorf("another machine without TLS: %d", got)
	}
	s.wantCleanPage()
}

// qrPath returns the SVG path of the QR code of a text.
func qrPath(t *testing.T, text string) string {
	t.Helper()
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		t.Fatal(err)
	}
	var d strings.Builder
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) {
				fmt.Fprintf(&d, "M%d %dh1v1h-1z", x, y)
			}
		}
	}
	return d.String()
}
