package mcp

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collie/test/await"
)

func messageOfSize(n int) outgoing {
	return outgoing{head: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":%q}`, strings.Repeat("x", n))}
}

// The streams kept for clients that may come back are limited in number and age. Streams that have not ended
// are not affected.
func TestSessionPrunesKeptStreams(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, tc := range []struct {
		name         string
		streams      int
		apart        time.Duration // time between their ends; the newest has just ended
		want, oldest int
	}{
		{name: "few", streams: 10, apart: time.Second, want: 10},
		{name: "many", streams: 200, apart: time.Millisecond, want: maxKept, oldest: 200 - maxKept},
		{name: "old", streams: 10, apart: keepStream / 4, want: 5, oldest: 5},
	} {
		s := newSession("")
		own := newEvents("s")
		own.ofSession = true
		s.streams["s"] = own
		s.streams["running"] = newEvents("running")
		for n := range tc.streams {
			e := newEvents(fmt.Sprint(n))
			e.add(messageOfSize(100), mustArrive)
			e.end()
			e.readerLeftAt = now.Add(-time.Duration(tc.streams-1-n) * tc.apart)
			s.streams[e.id] = e
		}
		s.prune(now)
		if got := len(s.streams) - 2; got != tc.want {
			t.Errorf("%s: %d streams are kept, want %d", tc.name, got, tc.want)
		}
		for _, name := range []string{"s", "running", fmt.Sprint(tc.oldest), fmt.Sprint(tc.streams - 1)} {
			if s.streams[name] == nil {
				t.Errorf("%s: stream %s is gone", tc.name, name)
			}
		}
	}
}

// One limit holds for all sessions together. Streams that were read to their end go first, then the oldest;
// one that is being read stays.
func TestKeeperDropsWhatWasRead(t *testing.T) {
	t.Parallel()
	const each = 1000
	k := newReplayBudget(5 * each)
	var sessions []*session
	stream := func(name string) *eventStream {
		s := newSession(name)
		e := newEvents(name)
		e.keeper, e.session, e.reader = k, s, readerComing
		s.keepStream(e)
		sessions = append(sessions, s)
		return e
	}
	there := func() string {
		var names []string
		for _, s := range sessions {
			for name := range s.streams {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	fill := func(e *eventStream) {
		e.add(messageOfSize(each-len(`{"jsonrpc":"2.0","id":1,"result":""}`)), mustArrive)
		e.end()
	}
	unread := func(e *eventStream) { // its reader leaves before the answer is there
		me, _ := e.attachReader(0)
		e.detachReader(me)
		fill(e)
	}
	read := func(e *eventStream) {
		fill(e)
		if !e.serve(context.Background(), httptest.NewRecorder(), 0) {
			t.Fatal("not read to its end")
		}
	}
	unread(stream("unread1"))
	read(stream("read1"))
	busy := stream("busy")
	fill(busy)
	unread(stream("unread2"))
	read(stream("read2"))
	if got, want := there(), "unread1 read1 busy unread2 read2"; got != want {
		t.Fatalf("kept %q, want %q", got, want)
	}
	for _, want := range []string{
		"unread1 busy unread2 read2 more1", "unread1 busy unread2 more1 more2", "busy unread2 more1 more2 more3", "busy more1 more2 more3 more4",
	} {
		unread(stream("more" + want[len(want)-1:]))
		if got := there(); got != want {
			t.Errorf("kept %q, want %q", got, want)
		}
	}
	if got := k.held.Load(); got != 5*each {
		t.Errorf("%d bytes are held, want %d", got, 5*each)
	}
	for _, s := range sessions {
		s.close(ErrSessionClosed)
	}
	if got := k.held.Load(); got != each {
		t.Errorf("%d bytes are held with only one stream being read, want %d", got, each)
	}
	me, _ := busy.attachReader(0)
	busy.detachReader(me)
	if got := k.held.Load(); got != 0 || len(k.place) != 0 {
		t.Errorf("%d bytes in %d streams are held of sessions that ended", got, len(k.place))
	}
}

// Messages left out for lack of room are counted, and reported in their place at a level that the client
// accepts.
func TestEventsTellWhatTheyLeftOut(t *testing.T) {
	t.Parallel()
	e := newEvents("")
	e.reader = readerComing
	logLine := func(n int, level string) outgoing {
		return outgoing{head: fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":%q,"data":"%d %s"}}`, level, n, strings.Repeat("x", 1<<20))}
	}
	for n := range 12 {
		e.add(logLine(n, []string{"info", "error"}[n%2]), mayBeDropped)
	}
	for range 3 {
		e.add(outgoing{head: []byte(`{"jsonrpc":"2.0","method":"notifications/progress"}`)}, progressKind)
	}
	same := outgoing{head: []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)}
	for range 1000 {
		e.add(same, signal)
	}
	e.add(messageOfSize(10), mustArrive)
	e.add(same, signal)
	e.end()
	w := httptest.NewRecorder()
	if !e.serve(t.Context(), w, 0) {
		t.Fatal("not read to its end")
	}
	var got []string
	for line := range bytes.Lines(w.Body.Bytes()) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		m, err := Parse(bytes.TrimSpace(data))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %.40s", m.Method, GetString(m.Params, "level"), GetString(m.Params, "data")))
	}
	var want []string
	for n := range 7 { // as many as there is room for
		want = append(want, fmt.Sprintf("notifications/message %s %.40s", []string{"info", "error"}[n%2], fmt.Sprintf("%d %s", n, strings.Repeat("x", 50))))
	}
	want = append(want, "notifications/tools/list_changed  ", "notifications/message error 5 messages were left out here: they came", "  ")
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("heard\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A client that reads more slowly than its call sends log messages slows the sender down and loses none. A
// client that has stopped reading delays the sender only briefly.
func TestEventsHoldWhatComesTooFast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEvents("")
		const size, count = 1 << 20, 40
		r := &pausingWriter{ResponseRecorder: httptest.NewRecorder(), each: 20 * time.Millisecond}
		done := make(chan bool)
		go func() { done <- e.serve(t.Context(), r, 0) }()
		synctest.Wait()
		line := outgoing{head: fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%q}}`, strings.Repeat("x", size))}
		for range count {
			e.addSlowly(line, mayBeDropped)
		}
		e.end()
		if !<-done {
			t.Fatal("not read to its end")
		}
		if n := bytes.Count(r.Body.Bytes(), []byte(`"info"`)); n != count || bytes.Contains(r.Body.Bytes(), []byte("left out")) {
			t.Errorf("%d of %d log messages arrived", n, count)
		}

		e = newEvents("")
		stuck := &pausingWriter{ResponseRecorder: httptest.NewRecorder(), each: time.Hour}
		go func() { done <- e.serve(t.Context(), stuck, 0) }()
		synctest.Wait()
		begun := time.Now()
		for range count {
			e.addSlowly(line, mayBeDropped)
		}
		if took := time.Since(begun); took > slowReaderDelay {
			t.Errorf("a client that does not read held a sender for %v", took)
		}
		e.end()
		<-done
	})
}

// hookedWriter is a ResponseWriter that calls happens while the first list_changed notification is written to it.
type hookedWriter struct {
	*httptest.ResponseRecorder
	happens func()
}

func (d *hookedWriter) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("list_changed")) && d.happens != nil {
		happens := d.happens
		d.happens = nil
		happens()
	}
	return d.ResponseRecorder.Write(b)
}

// TestChangeDuringItsNoticeIsTold: a list changes again while the notification about its first change is being written. That
// needs a second notification, because the client may already have fetched the list when the write returns.
func TestChangeDuringItsNoticeIsTold(t *testing.T) {
	t.Parallel()
	notice := outgoing{head: AppendNotification(nil, "notifications/tools/list_changed", nil)}
	s := newEvents("s")
	s.ofSession = true
	s.add(notice, signal)
	s.add(notice, signal) // merged with the first one, which is still waiting
	w := &hookedWriter{ResponseRecorder: httptest.NewRecorder(), happens: func() {
		s.add(notice, signal)
		s.add(notice, signal)
		s.end()
	}}
	if !s.serve(t.Context(), w, fromUnread) {
		t.Error("not everything was written")
	}
	if got := strings.Count(w.Body.String(), "list_changed"); got != 2 {
		t.Errorf("the client was told %d times, want once of each change", got)
	}
}

// pausingWriter is a client that pauses after each piece that it reads.
type pausingWriter struct {
	*httptest.ResponseRecorder
	each time.Duration
}

func (w *pausingWriter) Write(b []byte) (int, error) {
	await.Sleep(w.each)
	return w.ResponseRecorder.Write(b)
}

// Notifications, which a server may send without limit, cannot fill the memory, neither on a stream that
// nobody reads nor on a pipe.
func TestNoNotificationIsUnbounded(t *testing.T) {
	t.Parallel()
	pad := strings.Repeat("x", 250_000)
	for _, method := range []string{
		"notifications/elicitation/complete", "notifications/resources/updated", "notifications/vendor/x",
	} {
		unread := newEvents("s")
		unread.ofSession = true
		held := &blockedWriter{freed: make(chan struct{})}
		q := newLineQueue(held, time.Hour, nil)
		for i := range 3 * maxNotes / len(pad) {
			raw := AppendNotification(nil, method, fmt.Appendf(nil, `{"level":"info","uri":"%d%s"}`, i, pad))
			unread.add(outgoing{head: raw}, kindOf(method))
			q.post(raw, kindOf(method))
		}
		if unread.bytes > 2*maxUnread+2*len(pad) {
			t.Errorf("%s: %d bytes wait in a stream that nobody reads", method, unread.bytes)
		}
		q.mu.Lock()
		if n := len(q.pending); n > 2*maxNotes+2*len(pad) {
			t.Errorf("%s: %d bytes wait for a pipe that nobody reads", method, n)
		}
		if q.gap.n == 0 {
			t.Errorf("%s: the client will not be told what was left out", method)
		}
		q.mu.Unlock()
		close(held.freed)
		q.finish()
	}
}
