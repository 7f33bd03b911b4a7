package cli

import (
	"context"
	"encoding/json"
	"net/http"
)

// This file is what a running gateway does to its tool cache when asked to.

// ClearCache forgets servers, all if none is named, and returns whose entries there were.
func (r *remote) ClearCache(ctx context.Context, names []string) ([]string, error) {
	body, err := json.Marshal(map[string][]string{"servers": append([]string{}, names...)})
	if err != nil {
		return nil, err
	}
	raw, err := r.do(ctx, http.MethodPost, "/toolcache/clear", body)
	if err != nil {
		return nil, err
	}
	var got struct{ Removed []string }
	err = r.decode(raw, &got)
	return got.Removed, err
}

// FlushCache has the gateway write what it has not yet written, and returns why that failed.
func (r *remote) FlushCache(ctx context.Context) error {
	_, err := r.do(ctx, http.MethodPost, "/toolcache/flush", []byte("{}"))
	return err
}
