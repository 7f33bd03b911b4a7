package actiontest

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
)

// OwnForm makes the kernel store what an endpoint is given in another form, as when it strips spaces. given and
// stored are parts of the body as JSON.
func (k *Kit) OwnForm(t testing.TB, endpoint, given, stored string) {
	t.Helper()
	client := kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token, Transport: rewriter{endpoint, given, stored}})
	t.Cleanup(client.Close)
	k.Client = client
}

type rewriter struct{ endpoint, given, stored string }

func (w rewriter) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Path != w.endpoint {
		return http.DefaultTransport.RoundTrip(req)
	}
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	raw = bytes.ReplaceAll(raw, []byte(w.given), []byte(w.stored))
	out := req.Clone(req.Context())
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return http.DefaultTransport.RoundTrip(out)
}
