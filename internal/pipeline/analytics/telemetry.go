package analytics

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"collie/internal/atomicfile"
)

// This file sends reports of how many calls there were, if the settings say so. By default it is off.

// The limits and the default of TelemetryOptions.Interval.
const (
	minInterval     = time.Hour
	maxInterval     = 168 * time.Hour
	defaultInterval = 24 * time.Hour
)

const (
	sendTimeout = 15 * time.Second
	// firstCheck is so long that a command that only makes a call never reports.
	firstCheck = time.Minute
	checkEvery = time.Hour
	// minAge is the minimum age of a call to be counted, so that its line is in the file by then.
	minAge = 5 * time.Second
)

// TelemetryOptions of [NewTelemetry]. The zero value reports nowhere.
type TelemetryOptions struct {
	// Enabled must be true and Endpoint, an http or https URL, must be set for anything to be sent. There is
	// no default endpoint.
	Enabled  bool
	Endpoint string
	// Interval is the time between two reports; default 24 h, at least 1 h, at most 168 h.
	Interval time.Duration
	// Own are the tools whose names may be reported.
	Own []string
	// Version is the version of this program.
	Version string
	Logger  *slog.Logger // nil discards
}

// Telemetry sends reports of how many calls there are. It is safe for concurrent use.
type Telemetry struct {
	dir, state string
	opts       TelemetryOptions
	client     *http.Client

	stop  context.CancelFunc
	close sync.Once
	done  sync.WaitGroup
}

// NewTelemetry reports on what a [Log] has written to dir. state is the file that stores the time of the last
// report. Nothing is sent before Start.
func NewTelemetry(dir, state string, opts TelemetryOptions) *Telemetry {
	if opts.Interval == 0 {
		opts.Interval = defaultInterval
	}
	opts.Interval = min(max(opts.Interval, minInterval), maxInterval)
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Telemetry{
		dir: dir, state: state, opts: opts, stop: func() {},
		client: &http.Client{
			Timeout:   sendTimeout,
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
			// Redirects are not followed: the report goes only to where the user said.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// isOn reports whether anything will ever be sent.
func (t *Telemetry) isOn() bool { return t.opts.Enabled && t.opts.Endpoint != "" }

// Start begins to report in the background, if telemetry is on. It checks whether a report is due one minute
// after the start and then every hour; a report that could not be sent is tried again an hour later. Call it
// once, before Close.
func (t *Telemetry) Start() {
	if !t.isOn() {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	t.stop = stop
	t.done.Go(func() { t.run(ctx) })
}

// Close stops reporting, even in the middle of a report, and waits for that. It may be called twice.
func (t *Telemetry) Close() {
	t.close.Do(t.stop)
	t.done.Wait()
}

func (t *Telemetry) run(ctx context.Context) {
	timer := time.NewTimer(firstCheck)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if err := t.reportIfDue(ctx); err != nil && ctx.Err() == nil {
			t.opts.Logger.Info("telemetry is not sent", "error", err)
		}
		timer.Reset(checkEvery)
	}
}

// Next returns the report that would be sent now. It works also while telemetry is off, and changes nothing.
func (t *Telemetry) Next(ctx context.Context) (Payload, error) {
	last, err := t.lastReport()
	if err != nil {
		return Payload{}, err
	}
	return newPayload(ctx, t.dir, last, time.Now(), t.opts.Own, t.opts.Version)
}

// Due returns when the next report is due, if telemetry is on. The time may be in the past; it is zero if there was no
// report yet.
func (t *Telemetry) Due() (time.Time, error) {
	last, err := t.lastReport()
	if err != nil || last.IsZero() {
		return time.Time{}, err
	}
	return last.Add(t.opts.Interval), nil
}

// reportIfDue sends a report unless another process is sending one or has sent one recently.
func (t *Telemetry) reportIfDue(ctx context.Context) error {
	unlock, ok, err := atomicfile.TryLock(t.state + ".lock")
	if err != nil || !ok {
		return err
	}
	defer unlock()
	last, err := t.lastReport()
	now := time.Now()
	if err != nil || now.Before(last.Add(t.opts.Interval)) {
		return err
	}
	p, err := newPayload(ctx, t.dir, last, now.Add(-minAge), t.opts.Own, t.opts.Version)
	if err != nil {
		return err
	}
	if p.Aggregates.TotalCalls > 0 {
		if err := t.send(ctx, p); err != nil {
			return err
		}
	}
	return t.saveReportTime(p.ReportedAt)
}

// send posts p once. Only the status code of the answer matters.
func (t *Telemetry) send(ctx context.Context, p Payload) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.opts.Endpoint, bytes.NewReader(body))
	if err != nil {
		return errors.New("telemetry.endpoint is not a URL") // the URL may hold a secret, so it is not quoted
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "collie")
	resp, err := t.client.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // drops the URL from the error
		}
		return fmt.Errorf("send to telemetry.endpoint: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, flushBytes)) // some servers expect the client to read the answer
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("telemetry.endpoint answers %s", resp.Status)
	}
	return nil
}

// reportState is the content of the state file.
type reportState struct {
	LastReportAt int64 `json:"lastReportAt"` // milliseconds
}

// lastReport returns when the last report was made; the zero time if there was none.
func (t *Telemetry) lastReport() (time.Time, error) {
	raw, err := os.ReadFile(t.state)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of the last report: %w", err)
	}
	var s reportState
	if json.Unmarshal(raw, &s) != nil || s.LastReportAt <= 0 || s.LastReportAt > maxNumber {
		return time.Time{}, nil //nolint:nilerr // a broken file counts as no report
	}
	return time.UnixMilli(s.LastReportAt), nil
}

func (t *Telemetry) saveReportTime(at int64) error {
	raw, err := json.Marshal(reportState{at})
	if err != nil {
		return err
	}
	return atomicfile.Write(t.state, append(raw, '\n'), 0o600)
}
