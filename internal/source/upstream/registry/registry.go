// Package registry searches an MCP registry for servers, and turns what it finds into entries for the
// settings.
//
// A [Client] speaks the published API of the official registry, v0.1. Everything in its answers was written by
// strangers: names, versions and packages in an unexpected form are refused; texts for people are shortened and
// stripped of control characters; nothing is expanded as a variable or passed to a shell. [Server.Ways] returns how a
// server can be run or reached, each with the version pinned; [Server.Entry] makes the entry from the inputs that a
// person has given.
//
// The package writes no settings, keeps no secrets and starts nothing.
package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"collie/internal/lazyregexp"
	"collie/internal/tool"
)

// official is the address of the official registry.
const official = "https://registry.modelcontextprotocol.io"

const (
	maxAnswer    = 4 << 20 // size limit of one answer, in bytes
	maxText      = 400     // characters of a text for people
	maxRedirects = 3
	requestTime  = 20 * time.Second

	// maxLimit is the most servers that one page may be asked for.
	maxLimit = 100
)

// Client asks one registry. It is safe for concurrent use.
type Client struct {
	base *url.URL
	http *http.Client
}

// New returns a client of the registry at an address such as that of the official registry, without the path /v0.1. An
// address of another machine has to be https.
func New(address string) (*Client, error) {
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !isLocal(u.Hostname())) {
		return nil, &tool.Error{
			Op: op, Kind: tool.Invalid, Subject: "mcp.registry", Message: fmt.Sprintf("the address is %q, expected an https URL such as %s", address, official),
			Hint: "collie config set mcp.registry " + official,
		}
	}
	c := &Client{base: u}
	c.http = &http.Client{
		Timeout:   requestTime,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, TLSHandshakeTimeout: requestTime},
		// Redirects to another host are refused: the user has chosen this host, and another one may
		// be on a private network.
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			switch {
			case req.URL.Scheme != u.Scheme || req.URL.Host != u.Host:
				return fmt.Errorf("it redirects to %s, which is another host", clean(req.URL.Redacted()))
			case len(via) > maxRedirects:
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			return nil
		},
	}
	return c, nil
}

// latest stands for the latest version of a server.
const latest = "latest"

// op is the operation in errors of this package.
const op = "mcp registry"

// Found is one server of a search.
type Found struct {
	// Name has a namespace, such as io.github.user/server.
	Name    string `json:"name"`
	Version string `json:"version"`
	Title   string `json:"title,omitempty"`
	// Description is the publisher's, on one line and cut.
	Description string `json:"description,omitempty"`
	// Ways are the kinds by which it can be added: npm, pypi, oci, remote. Empty means that it cannot be
	// added.
	Ways []Kind `json:"ways"`
	// Status is active, deprecated or another word of the registry.
	Status     string `json:"status,omitempty"`
	Repository string `json:"repository,omitempty"`
}

// Page is one page of a search.
type Page struct {
	Servers []Found `json:"servers"`
	// Next is the cursor of the next page; empty on the last one.
	Next string `json:"next,omitempty"`
	// LeftOut counts servers that were left out because their data in the registry is invalid.
	LeftOut int `json:"leftOut,omitempty"`
}

// Search asks for the latest versions of servers whose name contains words. limit is 1 to [maxLimit]; cursor is empty, or
// [Page.Next] of the page before.
func (c *Client) Search(ctx context.Context, words string, limit int, cursor string) (Page, error) {
	q := url.Values{"version": {latest}, "limit": {strconv.Itoa(min(max(limit, 1), maxLimit))}}
	if words != "" {
		q.Set("search", words)
	}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	var list struct {
		Servers *[]json.RawMessage `json:"servers"`
		Meta    struct {
			Next string `json:"nextCursor"`
		} `json:"metadata"`
	}
	switch err := c.get(ctx, "/v0.1/servers?"+q.Encode(), words, &list); {
	case tool.KindOf(err) == tool.NotFound:
		return Page{}, c.odd("it answers with status %d", http.StatusNotFound)
	case err != nil:
		return Page{}, err
	}
	if list.Servers == nil {
		return Page{}, c.odd("its answer has no servers")
	}
	out := Page{Servers: []Found{}, Next: list.Meta.Next}
	if clean(out.Next) != out.Next {
		return Page{}, c.odd("its cursor of the next page is %q", clean(out.Next))
	}
	if cursor != "" && out.Next == cursor {
		out.Next = "" // else a reader of all pages would never end
	}
	seen := map[string]bool{}
	named := false // some entry has the place of a name
	for _, raw := range *list.Servers {
		var one answer
		err := json.Unmarshal(raw, &one)
		named = named || one.Server.Name != ""
		if err != nil || one.check() != nil {
			out.LeftOut++
			continue
		}
		if s := one.about(); s.Status != "deleted" && !seen[s.Name] {
			seen[s.Name] = true
			out.Servers = append(out.Servers, s)
		}
	}
	if !named && out.LeftOut > 0 {
		return Page{}, c.odd("none of its %d servers has the expected form", out.LeftOut)
	}
	return out, nil
}

// Get returns a version of a server; an empty version, or "latest", is the latest one.
func (c *Client) Get(ctx context.Context, name, version string) (*Server, error) {
	if !ValidName(name) {
		return nil, &tool.Error{
			Op: op, Kind: tool.Invalid, Subject: clean(name), Message: "this is not a name in a registry, expected NAMESPACE/NAME such as io.github.user/server",
			Hint: "collie mcp search WORDS shows names",
		}
	}
	if version == "" {
		version = latest
	}
	var one answer
	if err := c.get(ctx, "/v0.1/servers/"+url.PathEscape(name)+"/versions/"+url.PathEscape(version), name, &one); err != nil {
		return nil, err
	}
	s, err := one.server()
	if err != nil {
		return nil, c.odd("%v", err)
	}
	if one.Server.Name != name || version != latest && one.Server.Version != version {
		return nil, c.odd("it answers with %s@%s, which was not asked for", one.Server.Name, clean(one.Server.Version))
	}
	if s.Status == "deleted" {
		return nil, &tool.Error{Op: op, Kind: tool.NotFound, Subject: name, Message: "this server was deleted from the registry", Hint: "collie mcp search WORDS shows others"}
	}
	return s, nil
}

// read parses an answer that describes one server.
func read(text []byte) (*Server, error) {
	var one answer
	if err := json.Unmarshal(text, &one); err != nil {
		return nil, err
	}
	return one.server()
}

func (a *answer) server() (*Server, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	return &Server{Found: a.about(), detail: a.Server}, nil
}

// answer is a server as the registry answers.
type answer struct {
	Server detail `json:"server"`
	Meta   struct {
		Official struct {
			Status string `json:"status"`
		} `json:"io.modelcontextprotocol.registry/official"`
	} `json:"_meta"`
}

var (
	validName    = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.-]*/[A-Za-z0-9][A-Za-z0-9._-]*$`)
	validVersion = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+!_-]{0,127}$`)
)

// ValidName reports whether a name can stand in a registry: a namespace, a slash and a name.
func ValidName(name string) bool { return len(name) <= 200 && validName.MatchString(name) }

func (a *answer) check() error {
	switch s := &a.Server; {
	case s.Name == "":
		return errors.New("its answer has no server with a name")
	case !ValidName(s.Name):
		return fmt.Errorf("the name of a server is %q", clean(s.Name))
	case !validVersion.MatchString(s.Version):
		return fmt.Errorf("the version of %s is %q", s.Name, clean(s.Version))
	}
	return nil
}

func (a *answer) about() Found {
	s := &a.Server
	f := Found{
		Name: s.Name, Version: s.Version, Title: clean(s.Title), Description: clean(s.Description), Ways: []Kind{},
		Status: clean(a.Meta.Official.Status), Repository: clean(s.Repository.URL),
	}
	for _, w := range s.ways() {
		if w.Refused == "" && !slices.Contains(f.Ways, w.Kind) {
			f.Ways = append(f.Ways, w.Kind)
		}
	}
	return f
}

// get requests a path and decodes the answer into into. subject names the requested thing in errors.
func (c *Client) get(ctx context.Context, path, subject string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.String()+path, http.NoBody)
	if err != nil {
		return &tool.Error{Op: op, Kind: tool.Invalid, Subject: clean(subject), Err: err}
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return c.unreachable(ctx, err)
	case len(body) > maxAnswer:
		return c.odd("its answer has more than %d MiB", maxAnswer>>20)
	case resp.StatusCode == http.StatusNotFound:
		return &tool.Error{Op: op, Kind: tool.NotFound, Subject: clean(subject), Message: "the registry has no such server", Hint: "collie mcp search WORDS shows names"}
	case resp.StatusCode == http.StatusTooManyRequests:
		return &tool.Error{Op: op, Kind: tool.Busy, Subject: c.base.Host, Message: "the registry takes no more requests for now", Hint: "try again in a minute"}
	case resp.StatusCode != http.StatusOK:
		return c.odd("it answers with status %d", resp.StatusCode)
	}
	if err := json.Unmarshal(body, into); err != nil {
		if _, syntax := errors.AsType[*json.SyntaxError](err); syntax {
			return c.odd("its answer is not JSON")
		}
		return c.odd("its answer has another form: %s", clean(err.Error()))
	}
	return nil
}

func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // the rest repeats the address
	}
	message, hint := "the registry cannot be reached", "is this machine online? collie config get mcp.registry shows the address"
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		message = "the registry does not answer"
	}
	return &tool.Error{Op: op, Kind: tool.Unavailable, Subject: c.base.Host, Message: message, Hint: hint, Err: errors.New(clean(err.Error()))}
}

// odd returns the error for an answer that does not follow the API of registries.
func (c *Client) odd(format string, args ...any) error {
	return &tool.Error{
		Op: op, Kind: tool.Upstream, Subject: c.base.Host, Message: "what answers is not an MCP registry of API v0.1: " + fmt.Sprintf(format, args...),
		Hint: "collie config get mcp.registry shows its address",
	}
}

// clean returns a text of strangers for people: one line, no characters that terminals obey or nobody sees, and not too long.
func clean(s string) string {
	if len(s) > 4*maxText {
		s = s[:4*maxText]
	}
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return -1
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r): // control, format and private characters
			return -1
		}
		return r
	}, s)), " ")
	if utf8.RuneCountInString(s) > maxText {
		s = string([]rune(s)[:maxText-1]) + "…"
	}
	return s
}
