package chat

import (
	"context"
	"time"

	"collie/internal/llm"
	"collie/internal/store"
)

// This file stores how many tokens each step used and what it cost, and sums that up by day.

// usageRow is the usage of one step.
type usageRow struct {
	at                   int64
	provider, model, key string
	usage                llm.Usage
	cost                 int64
}

func (r *usageRow) write(tx *store.Tx, l *liveTurn) {
	u := r.usage
	tx.Exec(`INSERT INTO usage (at, session, turn, provider, model, label, input, cached, cache_write, output, reasoning, cost)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.at, l.turn.Session, l.turn.ID, r.provider, r.model, r.key, u.Input, u.Cached, u.CacheWrite, u.Output, u.Reasoning, r.cost)
}

// UsageRow is the usage of one model on one day.
type UsageRow struct {
	Day      string `json:"day"` // in UTC
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Agent    string `json:"agent,omitempty"`
	Steps    int64  `json:"steps"`
	llm.Usage
	Cost int64 `json:"costMicros"`
}

// Usage returns the usage from since until before until, summed by day, agent and model, oldest first. It includes
// deleted sessions, unless profile is not nil: then only the sessions with that profile count. A zero until means now.
func (s *Service) Usage(ctx context.Context, since, until time.Time, profile *string) (rows []UsageRow, err error) {
	if until.IsZero() {
		until = time.Now()
	}
	rows = []UsageRow{}
	err = s.store.Read(ctx, func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			rows = append(rows, UsageRow{
				Day: r.ColumnText(0), Agent: r.ColumnText(1), Provider: r.ColumnText(2), Model: r.ColumnText(3), Steps: r.ColumnInt64(4),
				Usage: llm.Usage{
					Input: r.ColumnInt64(5), Cached: r.ColumnInt64(6), CacheWrite: r.ColumnInt64(7), Output: r.ColumnInt64(8), Reasoning: r.ColumnInt64(9),
				},
				Cost: r.ColumnInt64(10),
			})
			return true
		}, `SELECT date(at / 1000, 'unixepoch') AS day, agent, provider, model, count(*), sum(input), sum(cached), sum(cache_write), sum(output),
			sum(reasoning), sum(cost) FROM usage WHERE at >= ?1 AND at < ?2
			AND (?3 IS NULL OR session IN (SELECT id FROM session WHERE `+hasProfile+`3)) GROUP BY day, agent, provider, model ORDER BY day, agent, provider, model`,
			since.UnixMilli(), until.UnixMilli(), orNull(profile))
		return nil
	})
	return rows, err
}
