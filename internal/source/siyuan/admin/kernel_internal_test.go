package admin

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"collie/internal/source/siyuan/connection"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// The token is only sent to a SiYuan: another program on that port never sees it.
func TestTokenIsForSiYuanAlone(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"a page":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>hi")) },
		"nothing":  func(http.ResponseWriter, *http.Request) {},
		"refusal":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) },
		"not here": func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := make(chan string, 10)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if a := r.Header.Get("Authorization"); a != "" {
					told <- a
				}
				h(w, r)
			}))
			defer s.Close()
			_, err := TryKernel(t.Context(), s.URL, "hidden", nil)
			e, ok := err.(*tool.Error) //nolint:errorlint // nothing wraps it
			if !ok || e.Code != NotAKernel || e.Kind != tool.Unavailable {
				t.Errorf("got %v", err)
			}
			if len(told) > 0 {
				t.Errorf("was told %q", <-told)
			}
		})
	}
}

func TestTryKernel(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	k.SetToken(true)
	k.Notebook("工作")
	url := k.URL()
	synctest.Test(t, func(t *testing.T) { // the clock of the bubble stands still during requests
		got, err := TryKernel(t.Context(), url, kerneltest.Token, nil)
		if err != nil || got != (KernelFacts{Version: kerneltest.Version, Workspace: "/workspace", Notebooks: 1}) {
			t.Errorf("%+v, %v", got, err)
		}
		k.ReadOnly(true)
		got, err = TryKernel(t.Context(), url, kerneltest.Token, nil)
		if err != nil || got != (KernelFacts{Version: kerneltest.Version, Notebooks: 1, ReadOnly: true}) {
			t.Errorf("read-only: %+v, %v", got, err)
		}
		recorded := VerifyWorkspace(connection.Choice{URL: url, Workspace: "/workspace"})
		client := kernel.New(url, kernel.Options{Token: kerneltest.Token})
		defer client.Close()
		if err := recorded(t.Context(), client); err != nil {
			t.Errorf("a read-only kernel is not used: %v", err)
		}
		k.ReadOnly(false)
		if got, err = TryKernel(t.Context(), url, "wrong", nil); tool.KindOf(err) != tool.Unauthorized || got.Version == "" {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err = TryKernel(t.Context(), "http://127.0.0.1:1", "", nil); tool.KindOf(err) != tool.Unavailable {
			t.Error(err)
		}
	})
}
