package acceptance_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/test/await"
	"collie/test/port"
)

// kernelSwitch is an address at which a kernel can be switched on and off.
type kernelSwitch struct {
	addr   string
	server *http.Server
}

func newKernelSwitch(t *testing.T) *kernelSwitch { return &kernelSwitch{addr: port.Address(t)} } // no kernel listens there yet

func (p *kernelSwitch) url() string { return "http://" + p.addr }

// switchOn lets the kernel listen until the test ends, or off is called.
func (p *kernelSwitch) switchOn(t *testing.T, k *kerneltest.Kernel) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	p.server = &http.Server{Handler: k, ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = p.server.Serve(l) // ends with off
	}()
	t.Cleanup(func() {
		p.switchOff()
		<-served
	})
}

func (p *kernelSwitch) switchOff() { _ = p.server.Close() }

// TestKernelDownAtStart starts the gateway before the kernel. The tools are listed at once, failing
// calls say what to start, and once the kernel runs everything works without a restart, even if the
// first call is a write.
func TestKernelDownAtStart(t *testing.T) {
	t.Parallel()
	for name, first := range map[string][2]string{
		"read":  {"fs", `{"action":"read","path":"/Work/Plan"}`},
		"write": {"fs", `{"action":"write","path":"/Work/New","markdown":"x"}`},
		"list":  {"notebook", `{"action":"list"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := newKernelSwitch(t)
			w.settings = w.Settings(t, nil, w.siyuanSection(p.url()))
			g := w.serve(t)
			clients := []*sdkClient{openSession(t, g, legacy, nobody), openSession(t, g, modern, nobody)}
			for _, v := range clients {
				if len(v.actionsOf(t, "fs")) == 0 {
					t.Error("no tools are listed")
				}
			}
			down := clients[0].wantRefused(t, first[0], first[1], "server_unavailable")
			wantWords(t, "the error", down.text, "start SiYuan")
			if _, err := clients[1].readPage(t, "siyuan://help/fs/read"); err != nil {
				t.Errorf("help needs a kernel: %v", err)
			}
			p.switchOn(t, w.Kernel)
			clients[1].mustCall(t, first[0], first[1])
			clients[0].mustCall(t, "fs", `{"action":"read","path":"/Work/Plan"}`)
			p.switchOff()
			clients[1].wantRefused(t, "fs", `{"action":"read","path":"/Work/Plan/Budget"}`, "server_unavailable")
			p.switchOn(t, w.Kernel)
			clients[1].mustCall(t, "fs", `{"action":"read","path":"/Work/Plan/Budget"}`)
		})
	}
}

// TestWrongToken uses a token that the kernel does not accept. The error says so, and the gateway
// does not keep retrying.
func TestWrongToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SetToken(true)
	settings := w.Settings(t, nil, `"siyuan":{"connections":{"test":{"url":"`+w.URL()+`","token":"WRONG_SECRET"}}}`)
	g := w.Serve(t, settings, "--no-auth")
	await.Until(t, "the first look", func() bool { return len(w.Calls()) > 0 })
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, agrees)
		for _, args := range []string{`{"action":"read","path":"/Work/Plan"}`, `{"action":"write","path":"/Work/New","markdown":"x"}`, `{"action":"rm","path":"/Work/Plan"}`} {
			got := v.wantRefused(t, "fs", args, "unauthorized")
			wantWords(t, args, got.text, "token", "collie siyuan connection set")
			if containsSecret(got.text) {
				t.Errorf("the token is told: %s", got.text)
			}
		}
	})
	t.Cleanup(func() { // after the subtests
		if n := len(w.Calls()); n > 2*3*3+3 { // two clients, three calls, at most three requests each, and the start
			t.Errorf("the kernel got %d requests: %v", n, endpointsOf(w.Calls()))
		}
		w.wantNoWrites(t)
	})
}

func containsSecret(text string) bool { return strings.Contains(text, "WRONG_SECRET") }

// TestBusyKernel uses a kernel that answers that it has too many requests. Reads are retried a few times, writes never.
func TestBusyKernel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := openSession(t, w.serve(t), modern, nobody)
	v.mustCall(t, "fs", `{"action":"read","path":"/Work/Plan"}`)
	w.ResetCalls()
	w.Fail("/api/filetree/createDocWithMd", 9, kerneltest.FailBusy)
	v.wantRefused(t, "fs", `{"action":"write","path":"/Work/New","markdown":"x"}`, "rate_limited")
	if n := len(w.Writes()); n != 1 {
		t.Errorf("%d requests to write, want 1: %v", n, endpointsOf(w.Writes()))
	}
	w.Fail("/api/block/getChildBlocks", 2, kerneltest.FailBusy)
	v.mustCall(t, "fs", `{"action":"read","path":"/Work/Plan"}`)
}

// TestKernelDownOnTheCommandLine checks the same on the command line, whose exit code is 3.
func TestKernelDownOnTheCommandLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settings = w.Settings(t, nil, w.siyuanSection("http://127.0.0.1:1")) // a port that no other test gets
	got := w.runCLI(t, "fs", "read", "/Work/Plan")
	got.wantCode(t, 3)
	wantWords(t, "stderr", got.errs, "start SiYuan")
	if got.out != "" {
		t.Errorf("stdout: %s", got.out)
	}
}
