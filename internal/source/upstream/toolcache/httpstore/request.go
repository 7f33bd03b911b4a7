package httpstore

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"collie/internal/source/upstream/toolcache"
)

// request is one of ours; body is encoded unless it is nil.
type request struct {
	op, method, below string
	header            http.Header
	body              any
}

// do sends a request and decodes the answer into v, unless it is 304.
func (s *Store) do(ctx context.Context, r request, v any) (status int, err error) {
	ctx, leave, err := s.enter(ctx, r.op)
	if err != nil {
		return 0, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := s.request(ctx, r)
	if err != nil {
		return 0, s.unreachable(ctx, r.op, err)
	}
	resp, err := s.client.Do(req) //nolint:gosec // the address is the user's own, checked by Open
	if err != nil {
		return 0, s.unreachable(ctx, r.op, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotModified:
		return resp.StatusCode, nil
	case http.StatusPreconditionFailed:
		return 0, toolcache.ErrConflict
	default:
		return 0, s.refused(r.op, resp)
	}
	if err := decode(resp.Body, resp.Header.Get("Content-Encoding"), v); err != nil {
		if ctx.Err() != nil {
			return 0, s.unreachable(ctx, r.op, err)
		}
		return 0, s.nonsense(r.op, "an answer that cannot be read", err)
	}
	return resp.StatusCode, nil
}

func (s *Store) request(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	header := r.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if r.body != nil {
		raw, gzipped, err := encode(r.body, true)
		if err != nil {
			return nil, err
		}
		header.Set("Content-Type", "application/json")
		if gzipped {
			header.Set("Content-Encoding", "gzip")
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, s.base.String()+r.below, body) //nolint:gosec // as above
	if err != nil {
		return nil, err
	}
	header.Set("Accept-Encoding", "gzip") // ours to unpack, whatever the client's transport does
	if header.Get("Accept") == "" {
		header.Set("Accept", "application/json")
	}
	if s.token != "" {
		header.Set("Authorization", "Bearer "+s.token)
	}
	req.Header = header
	return req, nil
}
