package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"collie/internal/config"
	"collie/internal/llm/keypool"
	"collie/internal/pipeline/analytics"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/metrics"
)

// This file joins what counts calls, for usage figures, /metrics and telemetry, to the rest of the program.

// counting holds what counts calls while an App runs. The zero value counts nothing.
type counting struct {
	log       *analytics.Log
	telemetry *analytics.Telemetry
	redact    *audit.Redactor // nil unless texts of calls are kept
}

// count starts analytics of calls, as the settings say.
func (a *App) count(cfg *config.Config, version string, secrets []string) {
	if !cfg.Analytics.Enabled {
		return
	}
	opts := analytics.Options{CaptureText: cfg.Analytics.CaptureText, Logger: a.log}
	if opts.CaptureText {
		a.counting.redact = audit.NewRedactor(secrets, audit.ContentFull)
		opts.Redactor = a.counting.redact
	}
	a.counting.log = analytics.Open(analyticsDir(cfg), a.Events, &opts)
	a.counting.telemetry = newTelemetry(cfg, version, a.log)
	a.counting.telemetry.Start()
}

// Metrics returns the handler of /metrics; it counts calls from now on. The caller closes it.
func (a *App) Metrics() *metrics.Metrics {
	return metrics.New(a.Events, metrics.Sources{Servers: a.Servers.List, Dropped: a.Servers.Dropped, Cache: a.cacheFigures, Models: a.modelFigures})
}

// limited is the state, in metrics, of a key that is active but rests for some models.
const limited keypool.State = "limited"

// modelFigures returns figures about requests to models and the states of keys, for /metrics. Before the agent host is
// used, there are none.
func (a *App) modelFigures() (out metrics.ModelFigures) {
	a.host.mu.Lock()
	h := a.host.opened
	a.host.mu.Unlock()
	if h == nil {
		return out
	}
	for _, f := range h.Models.Figures() {
		u := f.Usage
		out.Models = append(out.Models, metrics.ModelCounts{
			Provider: f.Provider, Model: f.Model, Requests: f.Requests, CostMicros: f.Cost, Tokens: map[string]uint64{
				"input": uint64(u.Input), "cached": uint64(u.Cached), "cache_write": uint64(u.CacheWrite),
				"output": uint64(u.Output), "reasoning": uint64(u.Reasoning),
			},
		})
	}
	out.Keys = map[string]map[string]uint64{}
	for _, k := range h.Models.Keys.List() {
		of := out.Keys[k.Provider]
		if of == nil {
			of = map[string]uint64{}
			for _, s := range []keypool.State{keypool.Active, limited, keypool.Cooling, keypool.Exhausted, keypool.Invalid, keypool.Disabled} {
				of[string(s)] = 0
			}
			out.Keys[k.Provider] = of
		}
		state := k.State
		if state == keypool.Active && len(k.Models) > 0 {
			state = limited
		}
		of[string(state)]++
	}
	return out
}

// close writes the calls so far to the files.
func (c *counting) close() {
	if c.log != nil {
		c.telemetry.Close()
		c.log.Close()
	}
}

// Usage sums up the calls of all processes of this home in [from, before).
func (a *App) Usage(ctx context.Context, from, before time.Time) (analytics.Usage, error) {
	a.reloading.Lock()
	cfg := a.cfg
	a.reloading.Unlock()
	return analytics.Summarize(ctx, analyticsDir(cfg), from, before)
}

func analyticsDir(cfg *config.Config) string { return filepath.Join(cfg.Paths.Data, "analytics") }

func newTelemetry(cfg *config.Config, version string, log *slog.Logger) *analytics.Telemetry {
	opts := analytics.TelemetryOptions{
		Enabled: cfg.Telemetry.Enabled, Endpoint: cfg.Telemetry.Endpoint,
		Interval: time.Duration(cfg.Telemetry.IntervalHours) * time.Hour, Version: version, Logger: log,
	}
	if cfg.SiYuan.Enabled { // otherwise a server of the user may have one of these names
		opts.Own = config.NotesTools()
	}
	return analytics.NewTelemetry(analyticsDir(cfg), filepath.Join(cfg.Paths.State, "telemetry.json"), opts)
}

// OpenTelemetry returns the telemetry of the home that cfg belongs to, for commands that have no [App]. It
// sends nothing before Start, and needs no Close.
func OpenTelemetry(cfg *config.Config, version string) *analytics.Telemetry {
	return newTelemetry(cfg, version, nil)
}
