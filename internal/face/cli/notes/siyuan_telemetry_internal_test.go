package notes

import (
	"strings"
	"testing"
	"time"

	"collie/internal/config"
)

// The command says what happens to the report, and never shows the endpoint, which may hold a password.
func TestWhereTelemetryGoes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	counted := config.Analytics{Enabled: true}
	for _, tc := range []struct {
		analytics config.Analytics
		telemetry config.Telemetry
		due       time.Time
		want      string
	}{
		{analytics: counted, telemetry: config.Telemetry{}, due: time.Time{}, want: "off and has no endpoint"},
		{analytics: counted, telemetry: config.Telemetry{Endpoint: "http://me:geheim@h"}, due: time.Time{}, want: "telemetry is off, so this is not sent"},
		{analytics: counted, telemetry: config.Telemetry{Enabled: true}, due: time.Time{}, want: "telemetry has no endpoint"},
		{analytics: counted, telemetry: config.Telemetry{Enabled: true, Endpoint: "http://me:geheim@h"}, due: time.Time{}, want: "is due"},
		{analytics: counted, telemetry: config.Telemetry{Enabled: true, Endpoint: "http://h"}, due: now.Add(-time.Minute), want: "is due"},
		{analytics: counted, telemetry: config.Telemetry{Enabled: true, Endpoint: "http://h"}, due: now.Add(time.Hour), want: now.Add(time.Hour).Format("at 2006-01-02 15:04")},
		{analytics: config.Analytics{}, telemetry: config.Telemetry{Enabled: true, Endpoint: "http://h"}, due: time.Time{}, want: "analytics.enabled is false"},
	} {
		got := describeDestination(&config.Config{Analytics: tc.analytics, Telemetry: tc.telemetry}, tc.due, now)
		if !strings.Contains(got, tc.want) || strings.Contains(got, "geheim") {
			t.Errorf("%+v %+v: %q, want %q", tc.analytics, tc.telemetry, got, tc.want)
		}
	}
}
