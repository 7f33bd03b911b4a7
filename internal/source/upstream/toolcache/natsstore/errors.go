package natsstore

import (
	"context"
	"errors"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

func closedError(op string) error {
	return &tool.Error{Op: op, Kind: tool.Unavailable, Message: "the shared tool cache is closed", Err: os.ErrClosed}
}

// gone reports whether an error says that the bucket is not there any more.
func gone(err error) bool {
	return errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, nats.ErrStreamNotFound) || errors.Is(err, jetstream.ErrBucketNotFound) ||
		errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrNoResponders)
}

// conflict reports whether a key has another revision than we wrote on.
func conflict(err error) bool {
	return errors.Is(err, jetstream.ErrKeyRevisionMismatch) || errors.Is(err, jetstream.ErrKeyExists)
}

// explain makes what a caller sees of an error; nil stays nil.
func (s *Store) explain(ctx context.Context, op string, err error) error {
	if err == nil || errors.Is(err, toolcache.ErrConflict) {
		return err
	}
	if known, ok := errors.AsType[*tool.Error](err); ok {
		return known
	}
	e := &tool.Error{Op: op, Kind: tool.Unavailable, Subject: s.address.shown + " bucket " + s.address.bucket, Err: err}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, os.ErrClosed):
		return closedError(op)
	case errors.Is(cause, context.Canceled):
		e.Kind, e.Err = tool.Canceled, cause
	case errors.Is(cause, context.DeadlineExceeded):
		e.Kind, e.Err, e.Hint = tool.Timeout, cause, "is the NATS server running, and is this its address?"
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrPermissionViolation):
		e.Kind, e.Hint = tool.Denied, "check user and password, and that they may use JetStream and the bucket"
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), gone(err):
		e.Hint = "is JetStream switched on at the NATS server, and for this account?"
	default:
		e.Hint = "is the NATS server running, and is this its address?"
	}
	return e
}
