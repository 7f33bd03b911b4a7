package siyuan_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/source"
	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
	"collie/test/await"
)

// configKernel answers every request of a kernel's client with our tool config, whose text a test can change, and counts the
// requests. It is a transport and needs no sockets, so it works in synctest bubbles.
type configKernel struct {
	mu    sync.Mutex
	text  string
	asked int
}

func (c *configKernel) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}}, Request: r, Body: io.NopCloser(strings.NewReader(c.text)),
	}, nil
}

func (c *configKernel) set(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = text
}

func (c *configKernel) requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

// A switch changed in the workspace shows in the list, and clients are told, without any call. While a client that
// has listed is connected, the config is read once in each TTL; without clients it is not read.
func TestSwitchesShowWithoutCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const life = 30 * time.Second
		config := &configKernel{text: `{"tag":true}`}
		k := kernel.New("http://kernel.test", kernel.Options{Transport: config, Waits: []time.Duration{}})
		defer k.Close()
		s := siyuan.New(siyuan.Options{Kernel: k})
		defer s.Close()
		c := source.New([]tool.Source{s}, source.Options{})
		defer c.Close()
		told := make(chan tool.ChangeKind, 16)
		defer c.Watch(func(ch tool.Change) { told <- ch.Kind })()
		listsTag := func() bool {
			raw, _ := c.List(t.Context(), tool.ListTools, "")
			return gjson.GetBytes(raw, `tools.#(name=="tag")`).Exists()
		}
		listsTag()
		synctest.Wait()
		if n := config.requests(); n != 0 {
			t.Errorf("%d requests before the start", n)
		}
		s.Start()
		synctest.Wait()
		c.Join(&tool.Session{ID: "a", ListsOnly: true})
		if !listsTag() {
			t.Fatal("tag is not listed")
		}
		began := config.requests()
		for _, on := range []bool{false, true} {
			config.set(map[bool]string{true: `{"tag":true}`, false: `{"tag":false}`}[on])
			await.Sleep(life + time.Second)
			select {
			case kind := <-told:
				if kind != tool.ToolsChanged {
					t.Errorf("told of %s", kind)
				}
			default:
				t.Errorf("tag %t: nobody was told in %v", on, life)
			}
			if listsTag() != on {
				t.Errorf("tag is listed %t, want %t", !on, on)
			}
		}
		await.Sleep(8 * life) // ten lives with the two above
		if n := config.requests() - began; n < 9 || n > 11 {
			t.Errorf("%d requests in ten lives of the config", n)
		}
		c.Leave("a")
		await.Sleep(life)
		began = config.requests()
		config.set(`{"tag":false}`)
		await.Sleep(100 * life)
		if n := config.requests() - began; n != 0 {
			t.Errorf("%d requests while nobody was there", n)
		}
		if !listsTag() {
			t.Error("a list waited for the kernel")
		}
		await.Sleep(time.Second) // the list above has started one reading, though its client has gone
		if listsTag() || config.requests() != began+1 || len(told) != 1 {
			t.Errorf("%d requests, %d notices after a list; want one each", config.requests()-began, len(told))
		}
	})
}
