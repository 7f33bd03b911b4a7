package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/tidwall/gjson"

	"collie/internal/vault"
)

// client sends requests to a vault in the same process, without a network.
type client struct{ http *http.Client }

func newClient(v *vault.Vault) client {
	return client{&http.Client{Transport: vault.Transport{Vault: v}}}
}

// ask sends a request and returns the data of the answer. An answer with a code other than 0 is an error.
func (c client) ask(ctx context.Context, endpoint string, body map[string]any) (gjson.Result, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return gjson.Result{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://vault"+endpoint, bytes.NewReader(data))
	if err != nil {
		return gjson.Result{}, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return gjson.Result{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return gjson.Result{}, err
	}
	if code := gjson.GetBytes(answer, "code"); resp.StatusCode != http.StatusOK || code.Int() != 0 {
		return gjson.Result{}, fmt.Errorf("%s: status %d: %s", endpoint, resp.StatusCode, answer)
	}
	return gjson.GetBytes(answer, "data"), nil
}
