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
		{counted, config.Telemetry{}, time.Time{}, "off and has no endpoint"},
		{counted, config.Telemetry{Endpoint: "http://me:geheim@h"}, time.Time{}, "telemetry is off, so this is not sent"},
		{counted, config.Telemetry{Enabled: true}, time.Time{}, "telemetry has no endpoint"},
		{counted, config.Telemetry{Enabled: true, Endpoint: "http://me:geheim@h"}, time.Time{}, "is due"},
		{counted, config.Telemetry{Enabled: true, Endpoint: "http://h"}, now.Add(-time.Minute), "is due"},
		{counted, config.Telemetry{Enabled: true, Endpoint: "http://h"}, now.Add(time.Hour), now.Add(time.Hour).Format("at 2006-01-02 15:04")},
		{config.Analytics{}, config.Telemetry{Enabled: true, Endpoint: "http://h"}, time.Time{}, "analytics.enabled is false"},
	} {
		got := describeDestination(&config.Config{Analytics: tc.analytics, Telemetry: tc.telemetry}, tc.due, now)
		if !strings.Contains(got, tc.want) || strings.Contains(got, "geheim") {
			t.Errorf("%+v %+v: %q, want %q", tc.analytics, tc.telemetry, got, tc.want)
		}
	}
}
