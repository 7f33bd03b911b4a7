package document_test

import (
	"io"
	"net/http"
	"strings"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// copyAll copies a body and closes it.
func copyAll(to io.Writer, from io.ReadCloser) (int64, error) {
	defer from.Close()
	return io.Copy(to, from)
}

// okResponse returns an answer of status 200.
func okResponse(body string) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)),
	}
}

// fakeSuccess is a transport that answers an endpoint with success without asking the kernel.
func fakeSuccess(endpoint string) http.RoundTripper { return fakeAnswer(endpoint, "null") }

// fakeAnswer is a transport that answers an endpoint itself.
func fakeAnswer(endpoint, data string) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.URL.Path == endpoint {
			return okResponse(`{"code":0,"msg":"","data":` + data + `}`), nil
		}
		return http.DefaultTransport.RoundTrip(req)
	})
}
