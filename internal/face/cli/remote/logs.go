package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"collie/internal/tool"
)

// This file reads the logs of servers from a running gateway.

// Logs yields the lines of a server's log that f selects, oldest first. With f.Follow it goes on until ctx
// ends or the gateway stops. An error ends the sequence.
func (r *Client) Logs(ctx context.Context, name string, f tool.LogFilter) iter.Seq2[tool.LogLine, error] {
	return func(yield func(tool.LogLine, error) bool) {
		err := r.logs(ctx, name, f, func(line tool.LogLine) bool { return yield(line, nil) })
		if err != nil && ctx.Err() == nil {
			yield(tool.LogLine{}, err)
		}
	}
}

func (r *Client) logs(ctx context.Context, name string, f tool.LogFilter, line func(tool.LogLine) bool) error {
	path := "/mcp/servers/" + url.PathEscape(name) + "/logs?" + logQuery(f)
	if f.Follow {
		return r.followLogs(ctx, path, line)
	}
	raw, err := r.Do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	var got struct{ Lines []tool.LogLine }
	if err := r.decode(raw, &got); err != nil {
		return err
	}
	for _, l := range got.Lines {
		if !line(l) {
			break
		}
	}
	return nil
}

func logQuery(f tool.LogFilter) string {
	q := url.Values{"stream": f.Streams}
	if f.Follow {
		q.Set("follow", "1")
	}
	if f.Last > 0 {
		q.Set("lines", strconv.Itoa(f.Last))
	}
	if !f.Since.IsZero() {
		q.Set("since", f.Since.Format(time.RFC3339Nano))
	}
	return q.Encode()
}

// followLogs reads the event stream of the log route, in which each event has one line of data.
func (r *Client) followLogs(ctx context.Context, path string, line func(tool.LogLine) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := r.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			return r.goneError(ctx, err)
		}
		return RefusalError(resp.StatusCode, raw)
	}
	failed := false
	in := bufio.NewReader(resp.Body)
	for {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // the gateway is stopping
		}
		if err != nil {
			return r.goneError(ctx, err)
		}
		data, ok := bytes.CutPrefix(text, []byte("data: "))
		switch {
		case !ok:
			failed = failed || bytes.HasPrefix(text, []byte("event: error"))
			continue
		case failed:
			return RefusalError(http.StatusInternalServerError, data)
		}
		var l tool.LogLine
		if err := json.Unmarshal(data, &l); err != nil {
			return &tool.Error{Op: "read the answer of", Kind: tool.Internal, Subject: r.Gateway.URL, Err: err}
		}
		if !line(l) {
			return nil
		}
	}
}
