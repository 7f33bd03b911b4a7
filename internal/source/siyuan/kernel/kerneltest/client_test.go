package kerneltest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

// post sends a JSON body over the network and returns the status and the answer.
func post(t testing.TB, k *kerneltest.Kernel, path, body string, headers ...string) (int, gjson.Result) {
	t.Helper()
	status, answer, err := tryPost(t, k, path, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return status, gjson.Parse(answer)
}

// tryPost is post for calls that may get no answer. headers alternates names and values.
func tryPost(t testing.TB, k *kerneltest.Kernel, path, body string, headers ...string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, k.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

// data is post for calls that must answer code 0.
func data(t testing.TB, k *kerneltest.Kernel, path, body string) gjson.Result {
	t.Helper()
	_, answer := post(t, k, path, body)
	if answer.Get("code").Int() != 0 {
		t.Fatalf("%s %s: %s", path, body, answer.Raw)
	}
	return answer.Get("data")
}
