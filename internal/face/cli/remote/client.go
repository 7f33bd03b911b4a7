// Package remote lets commands ask a gateway that is running, through its HTTP API, to do their work.
package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// Client talks to the running gateway of this home over /api/v1, with its control key. Await names the servers that
// requests for lists wait for; nil means all of them.
type Client struct {
	Gateway home.Gateway
	Await   []string
	client  *http.Client
}

// New returns a client for a gateway. servers become its Await. cfg says which certificates to trust.
func New(cfg *config.Config, g home.Gateway, servers []string) *Client {
	t := &http.Transport{
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: Roots(cfg)},
		ExpectContinueTimeout: aliveTime,
	}
	return &Client{Gateway: g, Await: servers, client: &http.Client{Transport: t}}
}

// Roots returns the certificates to trust: those of the system and the gateway's own, which is often self-signed. It is nil,
// which means those of the system alone, if the gateway has no certificate.
func Roots(cfg *config.Config) *x509.CertPool {
	if cfg.HTTP.TLSCert == "" {
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if pem, err := os.ReadFile(cfg.HTTP.TLSCert); err == nil {
		pool.AppendCertsFromPEM(pem)
	}
	return pool
}

// aliveTime is how long a gateway may take to answer Alive and Reread. The body of a call is sent after this time even if
// the gateway has not asked for it.
const aliveTime = 2 * time.Second

// HTTP returns the client that trusts the certificate of the gateway.
func (r *Client) HTTP() *http.Client { return r.client }

// Alive reports whether the gateway answers. It may not, because a gateway that was killed leaves gateway.json behind.
func (r *Client) Alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, aliveTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Gateway.URL+"/healthz", nil)
	if err != nil {
		return false
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// Tools returns the tools of a profile.
func (r *Client) Tools(ctx context.Context, profile string) ([]tool.Tool, error) {
	raw, err := r.Do(ctx, http.MethodGet, "/tools?"+r.query(profile), nil)
	if err != nil {
		return nil, err
	}
	var got struct{ Tools []tool.Tool }
	err = r.decode(raw, &got)
	return got.Tools, err
}

// Rebalance makes the gateway choose the views of servers anew.
func (r *Client) Rebalance(ctx context.Context) error {
	_, err := r.Do(ctx, http.MethodPost, "/tools/rebalance", nil)
	return err
}

// List returns the MCP list of a kind for a profile.
func (r *Client) List(ctx context.Context, kind tool.ListKind, profile string) (json.RawMessage, error) {
	return r.Do(ctx, http.MethodGet, "/lists/"+url.PathEscape(string(kind))+"?"+r.query(profile), nil)
}

// query names the profile, and the servers to wait for.
func (r *Client) query(profile string) string {
	q := url.Values{"profile": {profile}, "await": r.Await}
	if r.Await == nil {
		q.Set("await", "*")
	}
	return q.Encode()
}

// Servers returns the MCP servers with their states.
func (r *Client) Servers(ctx context.Context) ([]tool.ServerStatus, error) {
	raw, err := r.Do(ctx, http.MethodGet, "/mcp/servers", nil)
	if err != nil {
		return nil, err
	}
	var got struct{ Servers []tool.ServerStatus }
	err = r.decode(raw, &got)
	return got.Servers, err
}

// Close closes idle connections.
func (r *Client) Close() { r.client.CloseIdleConnections() }

// Do sends one request and returns the body of the answer. An answer that reports an error becomes an error.
func (r *Client) Do(ctx context.Context, method, path string, body []byte) (json.RawMessage, error) {
	resp, err := r.send(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, r.goneError(ctx, err)
	}
	if resp.StatusCode/100 != 2 { // some routes answer 201 or 204
		return nil, RefusalError(resp.StatusCode, raw)
	}
	return raw, nil
}

func (r *Client) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.Gateway.URL+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.Gateway.Control)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, r.goneError(ctx, err)
	}
	return resp, nil
}

// goneError returns the cause if ctx has ended, and otherwise the error that the gateway cannot be reached.
func (r *Client) goneError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return &tool.Error{
		Op: "ask the gateway at", Kind: tool.Unavailable, Subject: r.Gateway.URL, Err: err,
		Hint: "--local does without it",
	}
}

func (r *Client) decode(raw []byte, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return &tool.Error{Op: "read the answer of", Kind: tool.Internal, Subject: r.Gateway.URL, Err: err}
	}
	return nil
}

// RefusalError converts the body of an error answer to the error it describes.
func RefusalError(status int, body []byte) error {
	var got struct {
		Protocol json.RawMessage `json:"protocolError"`
		Error    struct {
			Type           tool.ErrorKind `json:"type"`
			Code           string         `json:"code"`
			Message        string         `json:"message"`
			Subject        string         `json:"subject"`
			Hint           string         `json:"hint"`
			Fields         []tool.Field   `json:"fields"`
			OutcomeUnknown bool           `json:"outcomeUnknown"`
			Retry          float64        `json:"retryAfterSeconds"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &got); err != nil || got.Protocol == nil && got.Error.Type == "" {
		return &tool.Error{Op: "ask the gateway", Kind: tool.Internal, Message: fmt.Sprintf("it answered HTTP %d: %.200q", status, body)}
	}
	if got.Protocol != nil {
		e := &tool.ProtocolError{Raw: got.Protocol}
		var fields struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(got.Protocol, &fields); err == nil {
			e.Code, e.Message = fields.Code, fields.Message
		}
		return e
	}
	return &tool.Error{
		Op: "call", Kind: got.Error.Type, Code: got.Error.Code, Subject: got.Error.Subject, Message: got.Error.Message,
		Hint: got.Error.Hint, Fields: got.Error.Fields, OutcomeUnknown: got.Error.OutcomeUnknown,
		RetryAfter: time.Duration(got.Error.Retry * float64(time.Second)), Facts: factsOf(body),
	}
}

// factsOf returns all members of an error, byte for byte, so that unknown ones survive when the error is written again.
// The fields of [tool.Error] take precedence over members of the same name.
func factsOf(body []byte) map[string]any {
	out := map[string]any{}
	rawjson.EachMember(json.RawMessage(gjson.GetBytes(body, "error").Raw), func(name string, _, value json.RawMessage) { out[name] = value })
	return out
}
