package gateway

import (
	"context"
	"encoding/json"
	"time"

	"rsc.io/qr"

	"collie/internal/app"
	"collie/internal/face/pages"
	"collie/internal/face/pages/browsers"
	"collie/internal/face/web"
	auditadmin "collie/internal/pipeline/audit/admin"
	"collie/internal/tool"
)

// This file lets the pages manage signed-in browsers, calls that wait for a person, and the audit.

// openPages reads which browsers are signed in and prepares the handler of the pages.
func (s *serving) openPages() (err error) {
	if s.browsers, err = browsers.Open(s.cfg.Paths.State, time.Now); err != nil {
		return err
	}
	s.pages, err = pages.New(s.browsers, func(ctx context.Context, b browsers.Browser) {
		s.OnRecord(ctx, s.cfg, "open", map[string]any{"browser": b.ID, "name": b.Name, "host": b.Host, "address": b.Address})
		s.publishBrowsersChanged(ctx)
	})
	if err == nil {
		s.pages.AllowFrames(s.cfg.Web.FrameOrigins)
	}
	return err
}

// browserAPI implements [web.Browsers] over the browsers that are signed in.
type browserAPI struct{ *serving }

// Link returns a new link that signs a browser in, with a QR code if it is for another machine. The secret stands after
// the #, which no browser sends to a server.
func (s browserAPI) Link(elsewhere bool) (web.Link, error) {
	base := s.ports.url()
	if elsewhere {
		if base = s.ports.urlElsewhere(); base == "" {
			return web.Link{}, &tool.Error{
				Op: "link", Kind: tool.Invalid, Code: "not_reachable", Subject: "http", Message: "no other machine can sign in: it takes TLS, and a name by which this gateway is reached",
				Hint: "set http.publicURL and http.trustedProxies for a proxy in front, or http.addr, http.tlsCert, http.tlsKey and http.allowedHosts; the guide to the pages says how",
			}
		}
	}
	secret, until := s.browsers.Link()
	made := web.Link{Address: base + pages.Path + "#link=" + secret, Until: until}
	if !elsewhere {
		return made, nil
	}
	code, err := qr.Encode(made.Address, qr.M)
	if err != nil {
		return web.Link{}, err
	}
	for y := range code.Size {
		row := make([]byte, code.Size)
		for x := range row {
			if row[x] = '0'; code.Black(x, y) {
				row[x] = '1'
			}
		}
		made.QR = append(made.QR, string(row))
	}
	return made, nil
}

// Elsewhere reports whether a browser on another machine could sign in.
func (s browserAPI) Elsewhere() bool { return s.ports.urlElsewhere() != "" }

// eventBrowsers is the kind of the event that the list of browsers has changed.
const eventBrowsers = "browsers"

// publishBrowsersChanged tells the open pages that the list of browsers has changed.
func (s *serving) publishBrowsersChanged(ctx context.Context) {
	if chats, err := s.app.Conversations(ctx); err == nil {
		chats.Publish(eventBrowsers, "", "", struct{}{})
	}
}

// List returns the browsers that are signed in.
func (s browserAPI) List() []web.Browser {
	out := []web.Browser{}
	for _, b := range s.browsers.List() {
		out = append(out, web.Browser(b))
	}
	return out
}

// End signs a browser out.
func (s browserAPI) End(ctx context.Context, id string) error {
	err := s.browsers.End(ctx, id)
	if err == nil {
		s.OnRecord(ctx, s.cfg, "open --end", map[string]any{"browser": id})
		s.publishBrowsersChanged(ctx)
	}
	return err
}

// pendingAPI implements [web.Waiting] over the calls that wait for a person under a code.
type pendingAPI struct{ *serving }

// List returns the calls that wait for an answer.
func (s pendingAPI) List() ([]web.OpenQuestion, error) {
	list, err := app.OpenPending(s.cfg).List()
	out := []web.OpenQuestion{}
	for i := range list {
		if w := &list[i]; w.State == app.PendingWaiting {
			client := w.Client
			if client == "" {
				client = w.Principal
			}
			out = append(out, web.OpenQuestion{ID: w.Code, Client: client, Question: w.Question, Asked: w.Asked})
		}
	}
	return out, err
}

// Answer stores a person's answer, as collie confirm does.
func (s pendingAPI) Answer(ctx context.Context, id string, yes bool) error {
	w, err := app.OpenPending(s.cfg).Answer(ctx, id, yes)
	if err != nil {
		return err
	}
	s.OnRecord(ctx, s.cfg, "confirm", map[string]any{
		"code": w.Code, "answer": w.State, "tool": w.Question.Tool, "action": w.Question.Action, "targets": w.Question.Targets,
		"origin": w.Origin, "principal": w.Principal, "client": w.Client,
	})
	return nil
}

// auditAPI implements [web.Audit] over the records of this home.
type auditAPI struct {
	auditadmin.Records
	s *serving
}

// Exported puts on record that a person took records elsewhere.
func (a auditAPI) Exported(ctx context.Context, detail json.RawMessage) error {
	return app.RecordExport(ctx, a.s.cfg, app.Options{Version: a.s.Version, Env: a.s.Env}, detail)
}
