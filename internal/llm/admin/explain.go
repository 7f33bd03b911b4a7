package admin

import (
	"errors"

	"collie/internal/llm"
	"collie/internal/tool"
)

// Explain converts an error of a model to one for people.
func Explain(op string, err error) error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return err
	}
	out := &tool.Error{Op: op, Kind: tool.Upstream, Code: string(e.Class), Subject: e.Provider, Message: e.Message, Hint: e.Hint, RetryAfter: e.RetryAfter}
	if e.Key != "" {
		out.Subject += "/" + e.Key
	}
	if out.Message == "" {
		out.Message = string(e.Class)
	}
	switch e.Class {
	case llm.ClassNoProvider:
		out.Kind = tool.NotFound
	case llm.ClassCredential, llm.ClassPermission, llm.ClassModelAccess, llm.ClassRegion:
		out.Kind = tool.Denied
	case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassQuota, llm.ClassAllCooling:
		out.Kind = tool.Busy
	case llm.ClassTransient:
		out.Kind = tool.Unavailable
	case llm.ClassCaller, llm.ClassContext, llm.ClassNoTools:
		out.Kind = tool.Invalid
	case llm.ClassCanceled:
		out.Kind = tool.Canceled
	case llm.ClassUnknown:
	}
	return out
}
