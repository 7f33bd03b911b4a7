package agent

import (
	"context"

	"collie/internal/chat"
)

type direct Agent

func (e *direct) Run(ctx context.Context, t *chat.Turn, s chat.Sink) (chat.Outcome, error) {
	return chat.Outcome{}, nil
}
