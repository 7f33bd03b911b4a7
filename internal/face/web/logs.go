package web

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"collie/internal/tool"
)

// logs answers with the lines of a server's log that ?since= (RFC 3339), ?stream= (repeatable) and ?lines=
// select. With ?follow=1 the answer is a stream of events, one per line, that ends with the request. An error
// in the middle is an event named "error".
func (a *api) logs(w http.ResponseWriter, r *http.Request) error {
	f, err := logFilter(r.URL.Query())
	if err != nil {
		return err
	}
	lines, err := a.opts.Servers.Tail(r.Context(), r.PathValue("name"), f)
	if err != nil {
		return err
	}
	if !f.Follow {
		all := []tool.LogLine{}
		for line, err := range lines {
			if err != nil {
				return err
			}
			all = append(all, line)
		}
		return answer(w, logLines{all})
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	c := http.NewResponseController(w)
	_ = c.Flush() // a disconnected client is noticed at the next write
	for line, err := range lines {
		if !sendLine(w, line, err) || c.Flush() != nil {
			break
		}
	}
	return nil
}

type logLines struct {
	Lines []tool.LogLine `json:"lines"`
}

// sendLine writes one event and reports whether more may follow.
func sendLine(w http.ResponseWriter, line tool.LogLine, err error) bool {
	name, data := "", []byte(nil)
	if err != nil {
		name = "event: error\n"
		_, data = errorBody(err)
	} else if data, err = encode(line); err != nil {
		return false
	}
	if n := len(data); n > 0 && data[n-1] == '\n' {
		data = data[:n-1]
	}
	_, werr := w.Write(append(append([]byte(name+"data: "), data...), "\n\n"...))
	return err == nil && werr == nil
}

func logFilter(q url.Values) (tool.LogFilter, error) {
	f := tool.LogFilter{Streams: q["stream"], Follow: q.Get("follow") == "1"}
	wrong := func(name, expected string) (tool.LogFilter, error) {
		return f, &tool.Error{
			Op: "read", Kind: tool.Invalid, Subject: "logs",
			Message: name + " is " + strconv.Quote(q.Get(name)) + ", expected " + expected,
		}
	}
	var err error
	if v := q.Get("lines"); v != "" {
		if f.Last, err = strconv.Atoi(v); err != nil || f.Last < 0 {
			return wrong("lines", "a number")
		}
	}
	if v := q.Get("since"); v != "" {
		if f.Since, err = time.Parse(time.RFC3339, v); err != nil {
			return wrong("since", "a time such as 2026-01-31T15:04:05Z")
		}
	}
	return f, nil
}
