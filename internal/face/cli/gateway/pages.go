package gateway

import (
	"context"
	"time"

	"collie/internal/app"
	"collie/internal/face/pages"
	"collie/internal/face/pages/browsers"
	"collie/internal/face/web"
)

// openPages reads which browsers are signed in.
func (s *serving) openPages() (err error) {
	if s.browsers, err = browsers.Open(s.cfg.Paths.State, time.Now); err != nil {
		return err
	}
	s.pages, err = pages.New(s.browsers, func(ctx context.Context, b browsers.Browser) {
		s.OnRecord(ctx, s.cfg, "open", map[string]any{"browser": b.ID, "name": b.Name, "host": b.Host})
	})
	return err
}

// signedIn are the browsers, as the API shows them.
type signedIn struct{ *serving }

// Link returns the address of a new link. Its secret stands behind the #, which no browser sends to a server.
func (s signedIn) Link() (address string, until time.Time) {
	secret, until := s.browsers.Link()
	return s.listener.URL() + pages.Path + "#link=" + secret, until
}

// List returns the browsers that are signed in.
func (s signedIn) List() []web.Browser {
	out := []web.Browser{}
	for _, b := range s.browsers.List() {
		out = append(out, web.Browser(b))
	}
	return out
}

// End signs a browser out.
func (s signedIn) End(ctx context.Context, id string) error {
	err := s.browsers.End(ctx, id)
	if err == nil {
		s.OnRecord(ctx, s.cfg, "open --end", map[string]any{"browser": id})
	}
	return err
}

// waiting are the calls that wait under a code.
type waiting struct{ *serving }

// List returns those that nobody has answered.
func (s waiting) List() ([]web.OpenQuestion, error) {
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
func (s waiting) Answer(ctx context.Context, id string, yes bool) error {
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
